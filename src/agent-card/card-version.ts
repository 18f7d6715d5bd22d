import { Problem } from '../errors.ts'

/** `both`: the card of v1.0 with the fields of v0.3, for a client that does not say which one it reads. */
export type CardVersion = '1.0' | '0.3' | 'both'

const supported: readonly CardVersion[] = ['1.0', '0.3']

/**
 * The card version that an `A2A-Version` header requests; undefined: there is none, as in every client of v0.3. Present but empty
 * means v0.3, and patch numbers do not count (A2A sections 3.6 and 3.6.2).
 */
export function cardVersionFor(header: string | undefined): CardVersion | undefined {
  if (header === undefined) return undefined
  const requested = header.trim()
  if (requested === '') return '0.3'
  const [, major, minor = '0'] = /^(\d+)(?:\.(\d+)(?:\.\d+)?)?$/.exec(requested) ?? []
  const version = supported.find((one) => one === `${major}.${minor}`)
  if (version) return version
  throw new Problem('invalid-request', {
    detail: `The header A2A-Version is ${JSON.stringify(requested)}; cards exist in ${supported.join(' and ')}.`,
    field: 'A2A-Version',
    extra: { supported },
  })
}
