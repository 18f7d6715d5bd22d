import type { AskApi } from './ask-api.ts'

/** Whom the client speaks for. */
interface ClientIdentity {
  /** `@donna` */
  readonly identity: string
  readonly project: string
}

/** Returns the identity of the client: the one that the transport knows, otherwise the one from a single call of the API. */
export type FindIdentity = (api: AskApi) => Promise<ClientIdentity>

export function createFindIdentity(known: Partial<ClientIdentity>): FindIdentity {
  let own: ClientIdentity | undefined
  return async ({ rest }) => {
    const { identity, project } = known
    if (identity !== undefined && project !== undefined) return { identity, project }
    own ??= await rest('GET /v1/whoami', { headers: { 'rouse-pending-signals': 'none' } })
    return own
  }
}
