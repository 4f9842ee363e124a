# bash completion for toolnexus
_toolnexus() {
    local line word before candidate
    line=${COMP_LINE:0:COMP_POINT}
    # Words as the shell reads them, not split at ':' and '='.
    local -a words=()
    read -r -a words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[${#words[@]}-1]}
    # What readline takes for the current word begins behind the last ':' or '='.
    before=${word%"${word##*[:=]}"}
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        candidate=${candidate#"$before"}
        [[ $candidate == *= ]] && compopt -o nospace 2>/dev/null
        # Names come from servers: the shell must not take any of them for its own signs.
        printf -v candidate %q "$candidate"
        COMPREPLY+=("$candidate")
    done < <("${words[0]}" __complete -- "${words[@]:1}" 2>/dev/null)
}
complete -o bashdefault -o default -F _toolnexus toolnexus
