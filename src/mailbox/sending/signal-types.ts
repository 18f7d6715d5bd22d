import { Problem } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { nearestNames } from '../../lib/nearest-names.ts'
import { firstLine } from '../../lib/words.ts'
import { systemSignals } from '../../registry/mail/announcement.ts'

type Kind = 'text' | 'list' | 'todo' | 'level'
interface Field {
  readonly kind: Kind
  readonly optional?: true
}

const text = { kind: 'text' } as const
const list = { kind: 'list' } as const

/** The required payload fields of the known signals of agents. A payload may have more fields. Source: S2-7. */
const agentSignals = {
  ReviewRequested: { spec_id: text, instructions: text },
  ReviewCompleted: { spec_id: text, summary: text, gaps: list, recommendation: text },
  Acknowledgment: { message: text },
  TaskAssigned: { description: text, todo_number: { kind: 'todo', optional: true }, priority: { kind: 'level' } },
  StatusUpdate: { description: text, artifacts: list },
} as const satisfies Record<string, Readonly<Record<string, Field>>>

const kinds: Record<Kind, { holds: (value: unknown) => boolean; wanted: string }> = {
  text: { holds: (value) => typeof value === 'string' && value.trim() !== '', wanted: 'a string' },
  list: { holds: Array.isArray, wanted: 'a list' },
  todo: { holds: (value) => typeof value === 'number' || typeof value === 'string', wanted: 'a number or a string' },
  level: {
    holds: (value) => typeof value === 'number' || (typeof value === 'string' && value !== ''),
    wanted: 'a string or a number',
  },
}

const namePattern = /^[A-Za-z][A-Za-z0-9_.:-]{0,99}$/
/** A name of one's own: it cannot be a slip in one of the known names. Source: D41. */
const ownName = /^x-|\./i

/**
 * Checks a signal type and its payload. Types of one's own may have any payload. Throws `invalid-request` that names the field of the
 * payload, and `forbidden` for signals that only the gateway sends.
 */
export function checkSignal(signalType: string, payload: JsonObject | undefined): void {
  if ((systemSignals as readonly string[]).includes(signalType)) {
    throw new Problem('forbidden', {
      field: 'signalType',
      detail: `signalType: only the gateway sends ${signalType}. Use another type.`,
    })
  }
  if (!namePattern.test(signalType)) {
    throw new Problem('invalid-request', {
      field: 'signalType',
      detail: 'signalType: must be a name of 1 to 100 letters, digits, "_", ".", ":" or "-" that begins with a letter.',
    })
  }
  if (!Object.hasOwn(agentSignals, signalType)) {
    requireOwnName(signalType)
    return
  }
  const fields: Readonly<Record<string, Field>> = agentSignals[signalType as keyof typeof agentSignals]
  for (const [name, { kind, optional }] of Object.entries(fields)) {
    const value = payload?.[name]
    if (value === undefined ? optional : kinds[kind].holds(value)) continue
    const field = `payload.${name}`
    throw new Problem('invalid-request', {
      field,
      detail: `${field}: ${value === undefined ? 'is required in' : 'has the wrong type in'} a ${signalType}: it must be ${kinds[kind].wanted}. Its payload is {${shapeOf(fields)}}.`,
    })
  }
}

function requireOwnName(signalType: string): void {
  if (ownName.test(signalType)) return
  const known = Object.keys(agentSignals)
  const [nearest] = nearestNames(signalType, known, 1)
  throw new Problem('invalid-request', {
    field: 'signalType',
    detail: `signalType: ${signalType} is none of ${known.join(', ')}. ${nearest ? `Did you mean ${nearest}? ` : ''}A type of your own has a dot in it or begins with x-, e.g. x-${signalType}.`,
  })
}

/** Returns a subject for a signal that has none, made from its payload. */
export function subjectOfSignal(signalType: string, payload: JsonObject | undefined): string {
  const { spec_id, instructions, summary, message, description } = payload ?? {}
  const words = [spec_id, instructions ?? summary ?? message ?? description].filter((word) => typeof word === 'string')
  const line = firstLine(words.join(': '))
  return line === '' ? signalType : `${signalType}: ${line}`
}

function shapeOf(fields: Readonly<Record<string, Field>>): string {
  return Object.entries(fields)
    .map(([name, { kind, optional }]) => `${name}${optional ? '?' : ''}${kind === 'list' ? '[]' : ''}`)
    .join(', ')
}
