# fish completion for toolnexus
function __toolnexus_complete
    set -l before (commandline -opc)
    set -l found ($before[1] __complete -- $before[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c toolnexus -f -a '(__toolnexus_complete)'
