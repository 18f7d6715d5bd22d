import { type Files, type FixtureCase, pretty } from './fixture.ts'
import { signedWake, single } from './wake-cases.ts'
import { messageSent, nextSigningKey, nowSeconds, signingKey } from './wake-inputs.ts'

/** The expected verdict of a receiver about a request, for each of the two schemes. */
interface Verdict {
  /** The receiver's clock. */
  readonly nowSeconds: number
  readonly 'standard-webhooks': 'accept' | 'reject'
  readonly 'x-neo-wake': 'accept' | 'reject'
}

const genuine = (keys?: readonly [string, ...string[]]): Files => signedWake(single(messageSent()), keys)
const verdict = (standard: Verdict['standard-webhooks'], neo: Verdict['x-neo-wake'], secondsLater = 0): Files => ({
  'verdict.json': pretty({
    nowSeconds: nowSeconds + secondsLater,
    'standard-webhooks': standard,
    'x-neo-wake': neo,
  } satisfies Verdict),
})

export const signatureCases: readonly FixtureCase[] = [
  signature('valid', 'A genuine request, checked a minute after it was sent.', () => ({
    ...genuine(),
    ...verdict('accept', 'accept', 60),
  })),
  signature('during-rotation', 'Both keys sign while a rotation’s overlap lasts; a receiver may know either.', () => ({
    ...genuine([nextSigningKey, signingKey]),
    'previous-secret.txt': signingKey,
    ...verdict('accept', 'accept'),
  })),
  signature('wrong-key', 'Signed with a key that the receiver does not have.', () => ({
    ...genuine(),
    'secret.txt': nextSigningKey,
    ...verdict('reject', 'reject'),
  })),
  signature('tampered-body', 'One character of the body was changed on the way.', () => {
    const files = genuine()
    return {
      ...files,
      'body.json': files['body.json']!.replace('"priority":"high"', '"priority":"higi"'),
      ...verdict('reject', 'reject'),
    }
  }),
  signature('reformatted-body', 'The same JSON in other bytes: verify what arrived, before any parser.', () => {
    const files = genuine()
    return { ...files, 'body.json': pretty(JSON.parse(files['body.json']!)), ...verdict('reject', 'reject') }
  }),
  signature('old-timestamp', 'A replay, 301 seconds later. Only the scheme that signs the time can tell.', () => ({
    ...genuine(),
    ...verdict('reject', 'accept', 301),
  })),
  signature('changed-timestamp', 'A replay that claims to be fresh: the time is part of what is signed.', () => {
    const files = genuine()
    const headers = { ...JSON.parse(files['headers.json']!), 'webhook-timestamp': String(nowSeconds + 301) }
    return { ...files, 'headers.json': pretty(headers), ...verdict('reject', 'accept', 301) }
  }),
]

function signature(name: string, shows: string, render: () => Files): FixtureCase {
  return { folder: `webhooks/signature/${name}`, shows, render }
}
