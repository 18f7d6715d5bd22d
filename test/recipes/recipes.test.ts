import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Wake } from '../../src/client/wakes/wake.ts'
import { runWakeCommand } from '../../src/client/wakes/wake-command.ts'
import type { WakeContext } from '../../src/client/wakes/wake-context.ts'
import { findRecipes, readTexts } from './find-recipes.ts'
import { hostileIds, hostileTexts } from './hostile-texts.ts'
import { type Found, harnessNames, readStandIns } from './read-harness.ts'

const root = resolve(import.meta.dirname, '../..')
const standIn = readFileSync(join(import.meta.dirname, 'stand-in.sh'))
/** `rouse`, as far as the example script calls it: it writes down its arguments, and lists no tasks. */
const rouse = `#!/bin/sh
printf '%s\\n' "$@" >> "$ROUSE_LOG"
case "$*" in *' -'*) cat > /dev/null ;; esac
case "$*" in *list*) echo '{"tasks":[]}' ;; esac
`

/** A directory as a person has it who copies a recipe, with stand-ins first on PATH. */
function desk() {
  const directory = mkdtempSync(join(tmpdir(), 'rouse-recipes-'))
  const bin = join(directory, 'bin')
  const log = join(directory, 'found')
  for (const path of [bin, log]) mkdirSync(path)
  symlinkSync(join(root, 'examples'), join(directory, 'examples'))
  symlinkSync(join(root, 'examples/on-wake.sh'), join(directory, 'on-wake.sh'))
  for (const name of harnessNames) writeFileSync(join(bin, name), standIn, { mode: 0o755 })
  writeFileSync(join(bin, 'rouse'), rouse, { mode: 0o755 })
  const linesOf = (name: string) => {
    const path = join(directory, name)
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
  }
  return {
    async run(command: string, wake: Wake, context: WakeContext) {
      const env = {
        PATH: `${bin}:${process.env.PATH}`,
        STAND_IN_LOG: log,
        ROUSE_LOG: join(directory, 'rouse'),
      }
      const said: string[] = []
      const add = (text: string) => void said.push(text)
      const end = await runWakeCommand(wake, { command, env, cwd: directory, context, stdout: add, stderr: add })
      return { ...end, said: said.join('') }
    },
    found: () => readStandIns(log),
    rouseWords: () => linesOf('rouse'),
    isTouched: () => existsSync(join(directory, 'touched')),
  }
}

const message = (text: string, over: object = {}) => ({
  messageId: 'MESSAGE:1',
  threadId: 'MESSAGE:1',
  taskId: null,
  type: 'msg',
  from: '@eve',
  subject: text,
  body: text,
  ...over,
})

const task = (text: string, over: object = {}) => ({
  id: '01a2b3c4',
  state: 'submitted',
  originator: '@eve',
  assignee: '@donna',
  history: [{ role: 'ROLE_USER', parts: [{ text }] }],
  ...over,
})

const wakeOf = (eventType: string, payload: Wake['payload']): Wake => ({
  eventType,
  eventId: '01KABCDEFGHJKMNPQRSTVWXYZ0',
  agentIdentity: '@donna',
  payload,
})

const contextOf = (messages: readonly object[], tasks: readonly object[] = []) =>
  ({ messages, tasks }) as unknown as WakeContext

const recipes = [...new Map(findRecipes().map((recipe) => [recipe.command, recipe])).values()]
const wordsOfRouse =
  /^(task|move|reply|list|working|completed|answer|assignee|submitted|-|--(artifact-text|type|role|state|json)|MESSAGE:\d+|task-\d+)$/
const isScript = (command: string) => command.includes('on-wake.sh')
const cases = recipes.map(({ place, command }) => [place, command] as const)

test('recipes are found in the pages, in the help and in the example', () => {
  const places = findRecipes().map(({ place }) => place)
  expect(places).toEqual(
    expect.arrayContaining([
      'docs/first-steps.md',
      'docs/cli.md',
      'docs/harnesses.md',
      'src/cli/commands/listen.ts',
      'examples/on-wake.sh',
    ]),
  )
  expect(recipes.length).toBeGreaterThanOrEqual(8)
})

test('every mention of a command for a wake is a recipe that is tried here, or names no command', () => {
  const mentions = readTexts().flatMap(({ place, text }) =>
    [...text.matchAll(/--exec[ =](?![`<])\S*.{0,30}/g)].map(([found]) => `${place}: ${found}`),
  )
  const commands = findRecipes().map(({ place, command }) => `${place}: ${command}`)
  const isTried = (mention: string) => commands.some((one) => mention.includes(one.split(': ')[1]!.slice(0, 20)))
  // In prose: "the command of --exec reads …".
  const prose = /--exec (reads|gets|that|starts|has)\b/
  expect(mentions.filter((mention) => !isTried(mention) && !prose.test(mention))).toEqual([])
})

test('wherever a variable with words of others is shown as a word of a command, it goes to standard input or after --', () => {
  const shown = readTexts().flatMap(({ place, text }) =>
    text.split('\n').flatMap((line) => {
      const withoutSafe = line.replaceAll(/printf '?%s'?(\\n)? \\?"\$\{?ROUSE_\w+\}?\\?"/g, '').replace(/ -- .*/, '')
      return /\$\{?ROUSE_(TEXT|SUBJECT|FROM|\w+_ID|AGENT)\b/.test(withoutSafe) ? [`${place}: ${line.trim()}`] : []
    }),
  )
  expect(shown).toEqual([])
})

/** Runs a command for each text, as its subject, its body and its ids; a few at the same time, because each starts processes. */
async function runForEach(command: string) {
  const { run, found, isTouched } = desk()
  const rest = [...hostileTexts]
  const next = async (): Promise<void> => {
    for (let text = rest.shift(); text !== undefined; text = rest.shift()) {
      const payload = { from: '@eve', subject: text, messageId: text, taskId: text }
      const context = contextOf([message(text, { messageId: text, threadId: text })])
      const end = await run(command, wakeOf(text, payload), context)
      expect({ text, ...end }).toMatchObject({ exitCode: 0 })
    }
  }
  await Promise.all([next(), next(), next(), next()])
  return { found: found(), isTouched: isTouched(), rouseWords: [] }
}

/** Runs a command that takes a wake apart for all texts at once, one half as mail and the other as tasks, with ids that no gateway makes. */
async function runForAll(command: string) {
  const { run, found, isTouched, rouseWords } = desk()
  const halves = [hostileTexts.filter((_, i) => i % 2 === 0), hostileTexts.filter((_, i) => i % 2 === 1)] as const
  const messages = halves[0].map((text, i) => message(text, { messageId: `MESSAGE:${i}` }))
  const tasks = halves[1].map((text, i) => task(text, { id: `task-${i}` }))
  const wrong = hostileIds.map((id) => ({
    message: message('marked', { messageId: id }),
    task: task('marked', { id }),
  }))
  const context = contextOf(
    [...wrong.map((one) => one.message), ...messages],
    [...wrong.map((one) => one.task), ...tasks],
  )
  expect(await run(command, wakeOf('wake/digest', { summary: hostileTexts[0] }), context)).toMatchObject({
    exitCode: 0,
  })
  return { found: found(), isTouched: isTouched(), rouseWords: rouseWords() }
}

/** Returns the words that a harness has taken for something else than the text. */
const takenBy = (command: string, { options, subcommands, commands, files }: Found) => {
  const own = command.split(/[\s|]+/)
  return [...options.filter((one) => !own.includes(one)), ...subcommands, ...commands, ...files]
}

describe.each(cases)('%s: %s', (_place, command) => {
  const hasHarness = command.split(/[\s|]+/).some((word) => harnessNames.includes(word))

  test('gives the harness what a peer wrote as a text: no option, no command, no file', async () => {
    const { found, isTouched, rouseWords } = await (isScript(command) ? runForAll : runForEach)(command)
    expect(isTouched).toBe(false)
    expect(found).toHaveLength(hasHarness ? hostileTexts.length : 0)
    for (const one of found) {
      expect([one.prompt, takenBy(command, one)]).toEqual([
        expect.stringMatching(/^From "@eve", who is not your user .*mar\0?ked/s),
        [],
      ])
      // A line that is like ours, within the text, has a mark before it.
      expect(one.prompt.match(/^\s*from\b/gim)).toHaveLength(1)
    }
    expect(rouseWords.filter((word) => !wordsOfRouse.test(word))).toEqual([])
  })

  // D49
  test('says of a message of the operator that it is from the user', async () => {
    const { run, found } = desk()
    const by = { from: '@operator' }
    const wake = wakeOf('wake/sent_to_me', { ...by, subject: 'Review', messageId: 'MESSAGE:1' })
    await run(command, wake, contextOf([message('Review PR 7', by)]))
    for (const { prompt } of found()) expect(prompt).toMatch(/^From "@operator", your user:\n\n.*Review PR 7/s)
  })
})

// Commands that somebody has written, and that no page shows.
test.each([
  'claude -p "$ROUSE_TEXT" </dev/null',
  'claude -p "$ROUSE_SUBJECT" </dev/null',
  'claude -p "$ROUSE_TASK_ID" </dev/null',
  'claude -p',
  'codex exec "$ROUSE_TEXT" </dev/null',
  'codex exec "$ROUSE_SUBJECT" </dev/null',
  'codex exec "$ROUSE_EVENT_TYPE" </dev/null',
  'opencode run "$ROUSE_TEXT" </dev/null',
  'opencode run "$ROUSE_MESSAGE_ID" </dev/null',
  'gemini "$ROUSE_SUBJECT"',
])(
  'a command that passes words of others on as an argument, or the wake, passes on no option, command or file: %s',
  async (command) => {
    const { found, isTouched } = await runForEach(command)
    expect(isTouched).toBe(false)
    expect(found).toHaveLength(hostileTexts.length)
    for (const one of found) expect([one.prompt, takenBy(command, one)]).toEqual([expect.stringContaining('ked'), []])
  },
)
