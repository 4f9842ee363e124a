# bash completion for toolnexus
_toolnexus() {
    local line word before candidate
    line=${COMP_LINE:0:COMP_POINT}
    # Words as the shell reads them, not split at ':' and '='.
    local -a words=()
    read -r -a words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[${#words[@]}-1]}
    # For readline, the current word begins after the last ':' or '='.
    before=${word%"${word##*[:=]}"}
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        candidate=${candidate#"$before"}
        [[ $candidate == *= ]] && compopt -o nospace 2>/dev/null
        # Names come from servers, so they are quoted for the shell.
        printf -v candidate %q "$candidate"
        COMPREPLY+=("$candidate")
    done < <("${words[0]}" __complete -- "${words[@]:1}" 2>/dev/null)
}
complete -o bashdefault -o default -F _toolnexus toolnexus
