import { type CallApi, GatewayUnreachable } from '../../../src/fronts/mcp/call-api.ts'

/** Calls the API of a gateway over HTTP, with one key and the headers of one client. */
export function fetchCallApi(url: string, key: string | undefined, headers: Record<string, string> = {}): CallApi {
  return async ({ method, path, query = {}, body, headers: own = {} }, { signal } = {}) => {
    const search = new URLSearchParams(query).toString()
    const response = await fetch(`${url}${path}${search === '' ? '' : `?${search}`}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
        ...own,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }).catch((error: unknown) => {
      throw signal?.aborted ? signal.reason : new GatewayUnreachable(url, String(error))
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: text === '' ? {} : JSON.parse(text),
    }
  }
}
