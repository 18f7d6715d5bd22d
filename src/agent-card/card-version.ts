import { Problem } from '../errors.ts'

export type CardVersion = '1.0' | '0.3'

const supported: readonly CardVersion[] = ['1.0', '0.3']

/**
 * The card version that an `A2A-Version` header requests. Absent means v1.0, so that browsers and crawlers see the
 * current card; present but empty means v0.3, and patch numbers do not count (A2A sections 3.6 and 3.6.2).
 */
export function cardVersionFor(header: string | undefined): CardVersion {
  if (header === undefined) return '1.0'
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
