import { withheldVariables } from '../../client/secret-input.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { AdapterId } from '../adapter.ts'
import { promptWays, type Recipe } from '../restart/recipe.ts'
import { isWithin } from '../target/choose-session.ts'
import { checkSetting, countOf, nameIn, objectOf, type Problems, wordOf } from './fields.ts'

/** The facts that a recipe is checked against. */
interface RecipeWorld {
  /** The harnesses that this version reaches. */
  readonly known: readonly AdapterId[]
  /** Of the agent. */
  readonly directories: readonly string[]
  /** The directory that a text names, or what is wrong with it. */
  readonly directoryOf: (written: unknown) => { readonly path: string } | { readonly problem: string }
  readonly platform?: NodeJS.Platform
}

const fields = ['harness', 'command', 'cwd', 'env', 'prompt', 'terminal', 'settleSeconds']
const settle = { min: 2, max: 600, otherwise: 10 } as const

/** The recipe of an agent; undefined, with the problems noted: it is none. */
export function recipeOf(
  value: unknown,
  field: string,
  { known, directories, directoryOf, platform = process.platform }: RecipeWorld,
  problems: Problems,
): Recipe | undefined {
  const before = problems.all.length
  const given = objectOf(value, field, fields, problems)
  if (given === undefined) return undefined
  if (platform === 'win32')
    return problems.add(field, 'Windows has no process groups, so nothing is started there. Take it out.')
  const harness = wordOf(given.harness, nameIn(field, 'harness'), known, problems)
  const help = 'the program and its arguments, such as ["codex", "--no-alt-screen"]'
  const { command } = given
  checkSetting(command, nameIn(field, 'command'), { type: 'strings', help }, problems)
  if (Array.isArray(command) && command.length === 0) problems.add(nameIn(field, 'command'), `is empty. Write ${help}.`)
  const found = directoryOf(given.cwd)
  if ('problem' in found) problems.add(nameIn(field, 'cwd'), found.problem)
  else if (!isWithin(found.path, directories)) {
    problems.add(
      nameIn(field, 'cwd'),
      `${found.path} is none of the agent's directories. Add it to directories, or name one of them.`,
    )
  }
  const env = variablesOf(given.env, nameIn(field, 'env'), problems)
  const prompt = wordOf(given.prompt, nameIn(field, 'prompt'), promptWays, problems)
  const { terminal } = given
  if (terminal !== undefined) wordOf(terminal, nameIn(field, 'terminal'), ['tmux'], problems)
  if (terminal !== undefined && prompt === 'stdin') {
    problems.add(nameIn(field, 'prompt'), 'a terminal is the standard input itself. Use argument or file.')
  }
  const seconds = countOf(given.settleSeconds, nameIn(field, 'settleSeconds'), settle, problems)
  if (problems.all.length > before || !harness || !prompt || 'problem' in found) return undefined
  const shown = terminal === undefined ? {} : { terminal: 'tmux' as const }
  return { harness, command: command as string[], cwd: found.path, env, prompt, ...shown, settleMs: seconds * 1_000 }
}

function variablesOf(value: unknown, field: string, problems: Problems): Record<string, string> {
  if (value === undefined) return {}
  if (!isJsonObject(value)) {
    problems.add(field, 'must be an object of names and texts: { "NAME": "value" }.')
    return {}
  }
  for (const [name, text] of Object.entries(value)) {
    const at = nameIn(field, name)
    if (!/^[A-Za-z_]\w{0,99}$/.test(name))
      problems.add(at, 'is no name of a variable. It has letters, digits and _ only.')
    else if (withheldVariables.some((one) => one === name)) {
      problems.add(
        at,
        'is a secret, and no part of a configuration. The harness uses the profile: rouse login --profile <name>',
      )
    } else checkSetting(text, at, { type: 'string', help: 'the value of the variable' }, problems)
  }
  return value as Record<string, string>
}
