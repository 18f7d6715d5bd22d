import type { CommandNode } from './command-tree.ts'

/** A completion script for bash 3.2 and later. */
export function bashCompletion(nodes: readonly CommandNode[]): string {
  return `# Completion of rouse for bash. Add to ~/.bashrc:  source <(rouse completion bash)
_rouse() {
  # In COMP_WORDS the parts between colons, = and @ are words of their own.
  local at="" word words="" asks="" typed line="\${COMP_LINE:0:COMP_POINT}"
  read -ra typed <<< "$line"
  [[ "$line" == *[[:space:]] ]] && typed+=("")
  local last=$((\${#typed[@]} - 1))
  local current="\${typed[last]}" previous="\${typed[last-1]}"
  for word in "\${typed[@]:1:last-1}"; do
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
  [ -n "$asks" ] && [[ "$current" != -* ]] && words="$words $(rouse complete -- "\${typed[@]:1}" 2> /dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # Only what follows the last colon is replaced.
  COMPREPLY=("\${COMPREPLY[@]#"\${current%"$2"}"}")
}
complete -o default -F _rouse rouse
`
}

/** After an option its values; `-` stands for none, which leaves file names. */
function valueCases({ path, options }: CommandNode): string[] {
  const at = path === '' ? '' : ` ${path}`
  const free = options.filter(({ takesValue, choices }) => takesValue && choices.length === 0)
  const fixed = options.filter(({ choices }) => choices.length > 0)
  const cases = (some: typeof free, act: string) =>
    some.length === 0 ? [] : [`    ${some.map(({ text }) => quoted(`${at} ${text}`)).join('|')}) ${act} ;;`]
  return [
    ...fixed.map(({ text, choices }) => `    ${quoted(`${at} ${text}`)}) words=${quoted(choices.join(' '))} ;;`),
    ...cases(
      free.filter(({ isAsked }) => isAsked),
      'words="-" asks=1',
    ),
    ...cases(
      free.filter(({ isAsked }) => !isAsked),
      'words="-"',
    ),
  ]
}

function wordCase({ path, commands, options, values, isAsked }: CommandNode): string {
  const words = [...[...commands, ...options].map(({ text }) => text), ...values, '--help']
  return `      ${quoted(path === '' ? '' : ` ${path}`)}) words=${quoted(words.join(' '))}${isAsked ? ' asks=1' : ''} ;;`
}

const quoted = (text: string): string => `"${text}"`
