import type { Shell } from "../invocation.ts";

/*
 * Each script asks the command itself what can follow, one word a line, with what it is after a tab. Nothing else is known to the
 * shell, so that a new version needs no new script.
 */

const BASH = `# Completion of cem for bash. In ~/.bashrc:  source <(cem completion bash)
_cem() {
  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  local line
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(cem complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then
    compopt -o default 2>/dev/null
  elif [[ \${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -F _cem cem`;

const ZSH = `#compdef cem
# Completion of cem for zsh. In ~/.zshrc, after compinit:  source <(cem completion zsh)
_cem() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(cem complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then
    if [[ \${found[1]} == *=:* ]]; then
      _describe 'cem' found -S ''
    else
      _describe 'cem' found
    fi
  else
    _files
  fi
}
compdef _cem cem`;

const FISH = `# Completion of cem for fish. Into ~/.config/fish/completions/cem.fish:  cem completion fish
function __cem_complete
  set -l words (commandline -opc) (commandline -ct)
  cem complete -- $words[2..-1] 2>/dev/null
end
complete -c cem -a '(__cem_complete)'`;

/** The script for each shell. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
