import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Problems } from '../../../src/bridge/config/fields.ts'
import { recipeOf } from '../../../src/bridge/config/read-recipe.ts'
import { recipeHash } from '../../../src/bridge/restart/recipe.ts'
import { dataDirectory } from '../../support/data-directory.ts'

const known = ['codex', 'claude']
const good = { harness: 'codex', command: ['codex', '--no-alt-screen'], cwd: '/app', prompt: 'argument' }

function read(value: unknown, platform: NodeJS.Platform = 'linux') {
  const problems = new Problems()
  const directoryOf = (written: unknown) =>
    typeof written === 'string' ? { path: written } : { problem: 'must be a path.' }
  const recipe = recipeOf(value, 'restart', { known, directories: ['/app'], directoryOf, platform }, problems)
  return { recipe, problems: problems.all }
}

test('a recipe is read with its default', () => {
  expect(read(good)).toEqual({ problems: [], recipe: { ...good, env: {}, settleMs: 10_000 } })
  const whole = { ...good, cwd: '/app/api', env: { LANG: 'C' }, terminal: 'tmux', settleSeconds: 3 }
  expect(read(whole).recipe).toMatchObject({ cwd: '/app/api', env: { LANG: 'C' }, terminal: 'tmux', settleMs: 3_000 })
})

test.each([
  ['no object', true, /^restart: must be an object/],
  ['a name that is wrong', { ...good, directory: '/app' }, /^restart\.directory: is no setting/],
  [
    'a harness that is not known',
    { ...good, harness: 'codx' },
    /^restart\.harness: "codx" is not known\. Did you mean codex\?/,
  ],
  [
    'a command for a shell',
    { ...good, command: 'codex' },
    /^restart\.command: must be a list of texts: the program and its arguments/,
  ],
  ['no command', { ...good, command: [] }, /^restart\.command: is empty\. Write the program/],
  ['no directory', { ...good, cwd: undefined }, /^restart\.cwd: must be a path/],
  [
    'a directory of nobody',
    { ...good, cwd: '/etc' },
    /^restart\.cwd: \/etc is none of the agent's directories\. Add it/,
  ],
  ['no variables', { ...good, env: ['A=b'] }, /^restart\.env: must be an object of names and texts/],
  ['a variable with a wrong name', { ...good, env: { 'A B': 'c' } }, /^restart\.env\.A B: is no name of a variable/],
  ['a variable that is no text', { ...good, env: { A: 1 } }, /^restart\.env\.A: must be a text/],
  ['a key', { ...good, env: { ROUSE_KEY: 'rk_1' } }, /^restart\.env\.ROUSE_KEY: is a secret.*rouse login --profile/],
  [
    'an unknown way of the prompt',
    { ...good, prompt: 'typed' },
    /^restart\.prompt: "typed" is not known\. It is one of: argument, stdin, file/,
  ],
  ['an unknown terminal', { ...good, terminal: 'screen' }, /^restart\.terminal: "screen" is not known/],
  [
    'a terminal with an input',
    { ...good, terminal: 'tmux', prompt: 'stdin' },
    /^restart\.prompt: a terminal is the standard input itself\. Use argument or file/,
  ],
  [
    'a time that is too short',
    { ...good, settleSeconds: 0 },
    /^restart\.settleSeconds: must be a whole number from 2 to 600/,
  ],
] as const)('%s is refused, with the field and the remedy', (_what, value, problem) => {
  const { recipe, problems } = read(value)
  expect(recipe).toBeUndefined()
  expect(problems).toEqual([expect.stringMatching(problem)])
})

test('Windows starts nothing', () => {
  expect(read(good, 'win32').problems).toEqual([expect.stringContaining('Take it out')])
})

test('another command, directory, environment or way is another recipe, and the same one in another order is not', () => {
  const recipe = read({ ...good, env: { A: '1', B: '2' } }).recipe!
  expect(recipeHash({ ...recipe, env: { B: '2', A: '1' }, settleMs: 1 })).toBe(recipeHash(recipe))
  for (const change of [
    { command: ['codex'] },
    { cwd: '/app/x' },
    { env: {} },
    { prompt: 'file' as const },
    { terminal: 'tmux' as const },
  ]) {
    expect(recipeHash({ ...recipe, ...change })).not.toBe(recipeHash(recipe))
  }
})

test('a directory below another of the agent is allowed, as for wakes', () => {
  using home = dataDirectory()
  mkdirSync(join(home.path, 'app'))
  const cwd = realpathSync(join(home.path, 'app'))
  const problems = new Problems()
  const world = { known, directories: [realpathSync(home.path)], directoryOf: () => ({ path: cwd }) }
  expect(recipeOf({ ...good, cwd }, 'restart', world, problems)).toMatchObject({ cwd })
})
