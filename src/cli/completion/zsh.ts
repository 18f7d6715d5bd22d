import type { CommandNode, Word } from './command-tree.ts'

/** A completion script for zsh 5 and later. */
export function zshCompletion(nodes: readonly CommandNode[]): string {
  return `#compdef rouse
# Completion of rouse for zsh. Add to ~/.zshrc after compinit:  source <(rouse completion zsh)
_rouse() {
  local at="" word previous="\${words[CURRENT-1]}"
  local -a items
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (${nodes
        .slice(1)
        .map(({ path }) => `' ${path}'`)
        .join('|')}) at="$at $word" ;;
    esac
  done
  case "$at $previous" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case "$at" in
${nodes.map(wordCase).join('\n')}
  esac
  _describe rouse items || _files
}
compdef _rouse rouse
`
}

function valueCases({ path, options }: CommandNode): string[] {
  const at = path === '' ? '' : ` ${path}`
  const free = options.filter(({ takesValue, choices }) => takesValue && choices.length === 0)
  const fixed = options.filter(({ choices }) => choices.length > 0)
  return [
    ...fixed.map(({ text, choices }) => `    ('${at} ${text}') compadd -- ${choices.join(' ')}; return ;;`),
    ...(free.length === 0 ? [] : [`    (${free.map(({ text }) => `'${at} ${text}'`).join('|')}) _files; return ;;`]),
  ]
}

function wordCase({ path, commands, options, values }: CommandNode): string {
  const words = [...commands, ...options, ...values.map((text) => ({ text, what: '' }))]
  return `    ('${path === '' ? '' : ` ${path}`}') items=(${words.map(item).join(' ')}) ;;`
}

/** `'add:add an agent'`: a colon ends the word, so those of the text are escaped. */
function item({ text, what }: Word): string {
  const plain = (part: string) => part.replaceAll("'", "'\\''").replaceAll(':', '\\:')
  return what === '' ? `'${plain(text)}'` : `'${plain(text)}:${plain(what)}'`
}
