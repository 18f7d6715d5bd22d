import type { CommandNode } from './command-tree.ts'

/** A completion script for bash 3.2 and later. */
export function bashCompletion(nodes: readonly CommandNode[]): string {
  return `# Completion of rouse for bash. Add to ~/.bashrc:  source <(rouse completion bash)
_rouse() {
  local at="" word words="" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${nodes
        .slice(1)
        .map(({ path }) => quoted(` ${path}`))
        .join('|')}) at="$at $word" ;;
    esac
  done
  case "$at $previous" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  if [ -z "$words" ]; then
    case "$at" in
${nodes.map(wordCase).join('\n')}
    esac
  fi
  [ "$words" = "-" ] && words=""
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _rouse rouse
`
}

/** After an option its values; `-` stands for none, which leaves file names. */
function valueCases({ path, options }: CommandNode): string[] {
  const at = path === '' ? '' : ` ${path}`
  const free = options.filter(({ takesValue, choices }) => takesValue && choices.length === 0)
  const fixed = options.filter(({ choices }) => choices.length > 0)
  return [
    ...fixed.map(({ text, choices }) => `    ${quoted(`${at} ${text}`)}) words=${quoted(choices.join(' '))} ;;`),
    ...(free.length === 0 ? [] : [`    ${free.map(({ text }) => quoted(`${at} ${text}`)).join('|')}) words="-" ;;`]),
  ]
}

function wordCase({ path, commands, options, values }: CommandNode): string {
  const words = [...[...commands, ...options].map(({ text }) => text), ...values, '--help']
  return `      ${quoted(path === '' ? '' : ` ${path}`)}) words=${quoted(words.join(' '))} ;;`
}

const quoted = (text: string): string => `"${text}"`
