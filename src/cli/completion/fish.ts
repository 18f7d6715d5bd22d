import type { CommandNode } from './command-tree.ts'

/** A completion script for fish 3 and later. */
export function fishCompletion(nodes: readonly CommandNode[]): string {
  return `# Completion of rouse for fish:  rouse completion fish > ~/.config/fish/completions/rouse.fish
function __rouse_is_at
  set -l paths ${nodes
    .slice(1)
    .map(({ path }) => quoted(path))
    .join(' ')}
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$at $word")
    contains -- $next $paths; and set at $next
  end
  test "$at" = "$argv[1]"
end
function __rouse_asked
  set -l current (commandline -ct)
  rouse complete -- (commandline -opc)[2..-1] "$current" 2> /dev/null
end
complete -c rouse -f
${nodes.flatMap(linesOf).join('\n')}
`
}

const asked = "'(__rouse_asked)'"

function linesOf({ path, commands, options, values, isAsked }: CommandNode): string[] {
  const at = `complete -c rouse -n ${quoted(`__rouse_is_at ${quoted(path)}`)}`
  return [
    ...commands.map(({ text, what }) => `${at} -a ${quoted(text)} -d ${quoted(what)}`),
    ...(values.length === 0 ? [] : [`${at} -a ${quoted(values.join(' '))}`]),
    ...(isAsked ? [`${at} -a ${asked}`] : []),
    ...options.map(({ text, what, takesValue, choices, isAsked }) => {
      const words = choices.length > 0 ? quoted(choices.join(' ')) : isAsked ? asked : undefined
      const value = words !== undefined ? ` -x -a ${words}` : takesValue ? ' -r -F' : ''
      return `${at} -l ${text.slice(2)} -d ${quoted(what)}${value}`
    }),
  ]
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
