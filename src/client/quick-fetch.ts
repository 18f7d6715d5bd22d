import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Fetch, FetchResponse } from './client-fetch.ts'

const answerMax = 4_000_000

/** For one request of a short process: it loads nothing, and leaves no connection that the end of the process waits for. */
export const quickFetch: Fetch = async (url, { method, headers, body, signal }) => {
  const request = url.startsWith('https:') ? (await import('node:https')).request : httpRequest
  return new Promise<FetchResponse>((resolve, reject) => {
    const fail = (cause: Error): void => reject(new TypeError('fetch failed', { cause }))
    const sent = request(url, { method, headers, agent: false, ...(signal ? { signal } : {}) }, (answer) =>
      readAll(answer).then((text) => resolve(responseOf(answer, text)), fail),
    )
    sent.on('error', fail)
    sent.end(body)
  })
}

async function readAll(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > answerMax) throw new Error(`the answer has more than ${answerMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function responseOf({ statusCode = 0, statusMessage = '', headers }: IncomingMessage, text: string): FetchResponse {
  return {
    ok: statusCode >= 200 && statusCode < 300,
    status: statusCode,
    statusText: statusMessage,
    headers: { get: (name) => headers[name.toLowerCase()]?.toString() ?? null },
    body: null,
    text: async () => text,
  }
}
