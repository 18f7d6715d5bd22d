import { InvalidArgumentError } from 'commander'
import { type Trigger, triggers } from '../../words/events.ts'
import { messageTypes } from '../../words/mail.ts'
import { accessLevels, contactPolicies, priorities, wakePolicies } from '../../words/policies.ts'

/** A repeatable option. */
export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value]
}

/** A whole number from `min` to `max`. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= min && number <= max) return number
    throw new InvalidArgumentError(
      max === Number.MAX_SAFE_INTEGER
        ? `Give a whole number, ${min} or more.`
        : `Give a whole number from ${min} to ${max}.`,
    )
  }
}

/** `SENT_TO_ME`, also written `sent-to-me`. */
export function trigger(value: string): Trigger {
  const name = value.toUpperCase().replaceAll('-', '_')
  const found = triggers.find((candidate) => candidate === name)
  if (!found) throw new InvalidArgumentError(`Give one of ${triggers.join(', ')}.`)
  return found
}

export function collectTrigger(value: string, earlier: Trigger[] | undefined): Trigger[] {
  return [...(earlier ?? []), trigger(value)]
}

export const access = oneOf(accessLevels)
export const contactPolicy = oneOf(contactPolicies)
export const messageType = oneOf(messageTypes)
export const priority = oneOf(priorities)
export const wakePolicy = oneOf(wakePolicies)
export const wakePolicyHelp =
  'how mail without a policy of its own is delivered: immediate (default), next_turn or silent'

function oneOf<const Word extends string>(words: readonly Word[]): (value: string) => Word {
  return (value) => {
    const word = words.find((one) => one === value)
    if (word !== undefined) return word
    throw new InvalidArgumentError(`Give one of ${words.join(', ')}.`)
  }
}

export interface SkillOption {
  id: string
  name: string
  tags: string[]
  description?: string
}

/** `id[:name[:tag,tag[:description]]]`; repeatable. */
export function collectSkill(value: string, earlier: SkillOption[] | undefined): SkillOption[] {
  const [id = '', name, tags, ...description] = value.split(':')
  if (!id.trim())
    throw new InvalidArgumentError('Give id:name:tag,tag, for example review:"Code review":typescript,security.')
  const skill: SkillOption = {
    id: id.trim(),
    name: name?.trim() || id.trim(),
    tags: (tags ?? '')
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  }
  if (description.length > 0) skill.description = description.join(':').trim()
  return [...(earlier ?? []), skill]
}
