import type { Command, Option } from 'commander'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { readProfiles } from '../../client/profile-file.ts'
import { quickFetch } from '../../client/quick-fetch.ts'
import { within } from '../../lib/within.ts'
import { idKinds, questions, readIds } from '../ids/id-lists.ts'
import { connect } from '../run/client-command.ts'
import { readPages } from '../run/read-pages.ts'
import { type AskedKind, askedKind } from './kinds.ts'

/** Somebody waits for it with a finger on a key. */
const askMaxMs = 1_000
const pagesMax = 1

/** A shell reads it as one word and nothing else. Names and ids of others are among the words, so all others are left out. */
const safeWord = /^@?[A-Za-z0-9][A-Za-z0-9._:@/-]*$/

/**
 * The words that may stand in the place of the last of these, which is being typed. None where nothing has a list of them, and where the
 * gateway does not answer in time, or refuses. Never rejects.
 */
export async function askedWords(program: Command, words: readonly string[], io: Io): Promise<string[]> {
  const { command, kind } = placeOf(program, words)
  if (kind === undefined) return []
  using late = within(askMaxMs, ...(io.signal ? [io.signal] : []))
  const { signal } = late
  const ask = io.fetch ?? quickFetch
  const quiet: Io = {
    stdout: io.stdout,
    stderr: () => {},
    stdin: () => '',
    env: io.env,
    signal,
    fetch: (url, init) => ask(url, { ...init, signal }),
  }
  const typed = words.at(-1) ?? ''
  try {
    const forms = kind === 'profile' ? profileForms(quiet) : await formsOf(kind, connect(quiet, command).gateway)
    const fitting = forms.map((of) => of.find((form) => form.startsWith(typed)) ?? '')
    return [...new Set(fitting)].filter((word) => safeWord.test(word))
  } catch {
    return []
  }
}

/** The spellings of each thing of a kind, the usual one first. */
type Forms = readonly string[][]

function profileForms(io: Io): Forms {
  return [...readProfiles(io).byName.keys()].map((name) => [name])
}

async function formsOf(kind: Exclude<AskedKind, 'profile'>, gateway: GatewayClient): Promise<Forms> {
  if (kind !== 'handle') {
    const list = kind === 'question' ? questions : idKinds[kind]
    const ids = await readIds(gateway, list, pagesMax)
    return ids.map(({ id }) => (id.startsWith(list.prefix) ? [id, id.slice(list.prefix.length)] : [id]))
  }
  const agents = await readPages(
    (pageToken) => gateway.call('GET /v1/agents', { query: { pageToken } }),
    (page) => page.agents,
    pagesMax,
  )
  return agents.map(({ handle }) => [handle.slice(1), handle])
}

/** The command that words lead to, with the options that they give it, and the kind of the last one, which is being typed. */
function placeOf(program: Command, words: readonly string[]): { command: Command; kind: AskedKind | undefined } {
  let command = program
  let option: Option | undefined
  let count = 0
  for (const word of words.slice(0, -1)) {
    if (option) {
      command.setOptionValue(option.attributeName(), word)
      option = undefined
    } else if (word.startsWith('-')) {
      const [name = '', value] = word.split(/=(.*)/s)
      const named = command.options.find((one) => one.required && [one.short, one.long].includes(name))
      if (named && value !== undefined) command.setOptionValue(named.attributeName(), value)
      else option = named
    } else {
      const child = count === 0 ? command.commands.find((one) => one.name() === word) : undefined
      command = child ?? command
      count += child ? 0 : 1
    }
  }
  const last = command.registeredArguments.at(-1)
  const holder = option ?? command.registeredArguments[count] ?? (last?.variadic ? last : undefined)
  const kind = holder && askedKind(holder)
  return { command, kind: kind === 'task' && command.name() === 'answer' ? 'question' : kind }
}
