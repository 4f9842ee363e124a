# elvish completion for toolnexus
use str
set edit:completion:arg-completer[toolnexus] = {|_ @words|
    toolnexus __complete -- $@words 2>/dev/null | from-lines | each {|line|
        var value @about = (str:split "\t" $line)
        edit:complex-candidate $value &display=$line
    }
}
