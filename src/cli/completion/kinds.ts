import type { Argument, Option } from 'commander'
import type { IdKind } from '../ids/id-lists.ts'

/** A kind of words that are looked up while a command is typed. */
export type AskedKind = 'handle' | 'profile' | 'question' | IdKind

/** The kinds by the names that arguments and values of options have in the help. */
const asked: Readonly<Record<string, AskedKind>> = {
  agent: 'handle',
  approval: 'approval',
  grantee: 'handle',
  handle: 'handle',
  identity: 'handle',
  to: 'handle',
  message: 'message',
  messageId: 'message',
  permission: 'permission',
  profile: 'profile',
  session: 'session',
  subscription: 'subscription',
  task: 'task',
  thread: 'thread',
}

/** The kind of words that an argument or the value of an option takes; undefined: nothing has a list of them. */
export function askedKind(holder: Argument | Option): AskedKind | undefined {
  return holder.argChoices ? undefined : asked[nameOf(holder)]
}

/** `task` for `<task>`, and for `--task <id>`: an option whose value has a name of no meaning says itself what it takes. */
export function nameOf(holder: Argument | Option): string {
  if (!('flags' in holder)) return holder.name()
  const [, value = ''] = /[<[]([\w-]+)/.exec(holder.flags) ?? []
  return value === 'id' || value === 'name' ? holder.name() : value
}
