import type { AskApi } from './ask-api.ts'

/** Whom the client speaks for. */
interface Own {
  /** `@donna` */
  readonly identity: string
  readonly project: string
}

/** Returns the identity of the client: the one that the transport knows, otherwise the one from a single call of the API. */
export type FindOwn = (api: AskApi) => Promise<Own>

export function createFindOwn(known: Partial<Own>): FindOwn {
  let own: Own | undefined
  return async ({ rest }) => {
    const { identity, project } = known
    if (identity !== undefined && project !== undefined) return { identity, project }
    own ??= await rest('GET /v1/whoami', { headers: { 'rouse-pending-signals': 'none' } })
    return own
  }
}
