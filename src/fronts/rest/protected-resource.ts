import { Problem } from '../../errors.ts'
import { metadataPath, type ResourcePath } from '../http/challenge.ts'
import { markPublic } from '../http/public-document.ts'
import { openRoute } from './route.ts'

/** Where clients that have no key get a token: the issuers whose tokens are accepted. Source: RFC 9728. */
export const protectedResourceRoutes = [metadataRoute(''), metadataRoute('/mcp')] as const

function metadataRoute<const Path extends ResourcePath>(path: Path) {
  return openRoute(`GET ${metadataPath(path)}`, async ({ res }, { publicUrl, issuers }) => {
    if (issuers.length === 0) {
      throw new Problem('not-found', {
        detail: 'This gateway accepts no tokens of issuers (ROUSE_JWT_ISSUERS). Use a key: Authorization: Bearer rk_…',
      })
    }
    markPublic(res, 300)
    // No scopes: an issuer refuses those that it does not know, and most do not know the gateway's.
    return {
      resource: publicUrl + path,
      resource_name: 'Rouse',
      authorization_servers: issuers.map(({ issuer }) => issuer),
      bearer_methods_supported: ['header'],
    }
  })
}
