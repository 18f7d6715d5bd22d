import { request } from 'node:http'
import type { JsonObject } from '../../../lib/json.ts'
import { type ApiAnswer, type CallApi, GatewayUnreachable } from '../call-api.ts'

/** Calls the API of a gateway on this machine, with the key of the caller. */
export function callOverLoopback(url: string, bearer: string): CallApi {
  return ({ method, path, query = {}, body, headers = {} }, { signal } = {}) =>
    new Promise<ApiAnswer>((resolve, reject) => {
      const search = new URLSearchParams(query).toString()
      const content = body === undefined ? {} : { 'content-type': 'application/json' }
      const asked = request(`${url}${path}${search === '' ? '' : `?${search}`}`, {
        method,
        headers: { ...headers, ...content, authorization: `Bearer ${bearer}` },
        signal,
      })
      asked.on('error', (error) => reject(signal?.aborted ? signal.reason : new GatewayUnreachable(url, error.message, error)))
      asked.on('response', (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const body = (text === '' ? {} : JSON.parse(text)) as JsonObject
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers as Record<string, string>, body })
        })
      })
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })
}
