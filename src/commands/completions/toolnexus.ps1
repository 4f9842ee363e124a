# PowerShell completion for toolnexus
Register-ArgumentCompleter -Native -CommandName toolnexus -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    # An empty last word is a word, too.
    $PSNativeCommandArgumentPassing = 'Standard'
    # The words before the cursor, without their quotation marks.
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object {
            if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
            else { $_.ToString() }
        })
    if ($wordToComplete -eq '') { $words += '' }
    & toolnexus __complete '--' @words 2>$null | ForEach-Object {
        $value, $about = $_ -split "`t", 2
        if (-not $about) { $about = $value }
        # Names come from servers, so they are quoted for the shell.
        $text = $value
        if ($value -match '[^\w\-./:=@%+]') { $text = "'" + $value.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
    }
}
