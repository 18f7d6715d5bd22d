import { Problem } from '../../errors.ts'
import { makeSignInCode } from '../../identity/sign-in-codes.ts'
import { bearerKeyOf } from '../http/auth.ts'
import { instant } from './instant.ts'
import { route } from './route.ts'

/** A code that signs in on the page once. */
export interface SignInCodeView {
  readonly code: string
  /** The path of the page with the code in its fragment, which no browser sends to a server. */
  readonly path: string
  /** ISO 8601. */
  readonly expiresAt: string
}

/** `/v1/sign-in-codes`: the code of a link that signs its caller in on the page. */
export const signInCodeRoutes = [
  route('POST /v1/sign-in-codes', {
    name: 'signInCode.make',
    what: 'make a link that signs in on the page',
    access: { scope: 'any', operator: 'any', agent: 'own', peer: 'never', audited: 'first' },
    hasSecret: true,
    status: 201,
    handle: async ({ caller, header }, context): Promise<SignInCodeView> => {
      const key = bearerKeyOf(header('authorization'))
      if (key === undefined) {
        throw new Problem('invalid-request', { detail: 'Send the request over HTTP, with the key that signs in.' })
      }
      const { code, expiresAt } = await makeSignInCode(context, caller, key)
      return { code, path: `/#/sign-in/${code}`, expiresAt: instant(expiresAt) }
    },
  }),
] as const
