import type { CommandNode, Word } from './command-tree.ts'

/** A completion script for zsh 5 and later. */
export function zshCompletion(nodes: readonly CommandNode[]): string {
  return `#compdef rouse
# Completion of rouse for zsh. Add to ~/.zshrc after compinit:  source <(rouse completion zsh)
_rouse_asked() {
  local -a asked
  [[ "$PREFIX" == -* ]] || asked=(\${(f)"$(rouse complete -- "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2> /dev/null)"})
  compadd -a asked
}
_rouse() {
  local at="" word asks="" none=1 previous="\${words[CURRENT-1]}"
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
  [[ -n "$asks" ]] && _rouse_asked && none=0
  _describe rouse items && none=0
  ((none)) && _files
}
compdef _rouse rouse
`
}

function valueCases({ path, options }: CommandNode): string[] {
  const at = path === '' ? '' : ` ${path}`
  const free = options.filter(({ takesValue, choices }) => takesValue && choices.length === 0)
  const fixed = options.filter(({ choices }) => choices.length > 0)
  const cases = (some: typeof free, act: string) =>
    some.length === 0 ? [] : [`    (${some.map(({ text }) => `'${at} ${text}'`).join('|')}) ${act}; return ;;`]
  return [
    ...fixed.map(({ text, choices }) => `    ('${at} ${text}') compadd -- ${choices.join(' ')}; return ;;`),
    ...cases(
      free.filter(({ isAsked }) => isAsked),
      '_rouse_asked || _files',
    ),
    ...cases(
      free.filter(({ isAsked }) => !isAsked),
      '_files',
    ),
  ]
}

function wordCase({ path, commands, options, values, isAsked }: CommandNode): string {
  const words = [...commands, ...options, ...values.map((text) => ({ text, what: '' }))]
  return `    ('${path === '' ? '' : ` ${path}`}') items=(${words.map(item).join(' ')})${isAsked ? ' asks=1' : ''} ;;`
}

/** `'add:add an agent'`: a colon ends the word, so those of the text are escaped. */
function item({ text, what }: Word): string {
  const plain = (part: string) => part.replaceAll("'", "'\\''").replaceAll(':', '\\:')
  return what === '' ? `'${plain(text)}'` : `'${plain(text)}:${plain(what)}'`
}
