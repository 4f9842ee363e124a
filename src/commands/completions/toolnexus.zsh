#compdef toolnexus
# zsh completion for toolnexus
_toolnexus() {
    local -a values shown open open_shown
    local line value
    for line in ${(f)"$(${words[1]} __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
        value=${line%%$'\t'*}
        if [[ $value == *= ]]; then
            open+=("$value")
            open_shown+=("${line/$'\t'/  -- }")
        else
            values+=("$value")
            shown+=("${line/$'\t'/  -- }")
        fi
    done
    if (( $#values + $#open == 0 )); then
        _files
        return
    fi
    (( $#values )) && compadd -l -d shown -a values
    (( $#open )) && compadd -S '' -l -d open_shown -a open
    return 0
}
if [[ $funcstack[1] == _toolnexus ]]; then
    _toolnexus "$@"
else
    compdef _toolnexus toolnexus
fi
