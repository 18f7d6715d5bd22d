import type { CardSigner } from '../../agent-card/signing.ts'
import { openRoute } from './route.ts'

/** `/.well-known/jwks.json`: the public keys that cards are signed with. */
export const jwksRoutes = [
  openRoute('GET /.well-known/jwks.json', async ({ res }, { signer }: { readonly signer: CardSigner }) => {
    res.setHeader('Cache-Control', 'public, max-age=300')
    return signer.jwks()
  }),
] as const
