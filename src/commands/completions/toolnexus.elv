# elvish completion for toolnexus
use str
set edit:completion:arg-completer[toolnexus] = {|_ @words|
    toolnexus __complete -- $@words 2>/dev/null | from-lines | each {|line|
        var value @about = (str:split "\t" $line)
        # The value of an argument is typed behind its `=`.
        var suffix = ' '
        if (str:has-suffix $value '=') {
            set suffix = ''
        }
        edit:complex-candidate $value &display=(str:join '  ' [$value $@about]) &code-suffix=$suffix
    }
}
