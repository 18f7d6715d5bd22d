import type { Client } from '@a2a-js/sdk/client'
import { InterceptingCall, type Interceptor } from '@grpc/grpc-js'
import { connect, type Dialect } from '../a2a/connect.ts'
import type { TestAgent, TestGateway } from '../support/gateway.ts'
import { answerOf, stableHeaders } from './exchange.ts'
import { pretty } from './fixture.ts'
import { createPlaceholders } from './placeholders.ts'

/** The SDK's client in one version over one binding, and what it sends and gets. */
export interface Way {
  /** `1.0-grpc` */
  readonly name: string
  readonly dialect: Dialect
  readonly client: Client
  /** Makes one call, and writes it and its answer down. */
  note(act: (client: Client) => Promise<unknown>): Promise<string>
}

interface Call {
  readonly request: object
  readonly answer: () => object | Promise<object>
}

/** Connects the SDK's client of an agent to another agent. */
export async function openWay(gateway: TestGateway, to: TestAgent, from: TestAgent, dialect: Dialect): Promise<Way> {
  const calls: Call[] = []
  const via = { fetch: fetching(gateway, calls), interceptors: [intercepting(calls)] }
  const client = await connect({ url: publicUrl }, to, from.key, dialect, via)
  return {
    name: nameOf(dialect),
    dialect,
    client,
    async note(act) {
      calls.length = 0
      await act(client)
      const [call] = calls
      if (!call || calls.length > 1) throw new Error(`A call is one exchange, not ${calls.length}.`)
      return createPlaceholders()(pretty({ request: call.request, answer: await call.answer() }))
    },
  }
}

export const nameOf = ({ version, binding }: Dialect): string =>
  `${version}-${binding.toLowerCase().replace(/\W/, '-')}`

/** The addresses of the gateway in its cards. */
const publicUrl = 'https://rouse.example'
const publicTarget = 'rouse.example:4521'

function fetching(gateway: TestGateway, calls: Call[]): typeof fetch {
  return async (input, init = {}) => {
    const path = String(input).slice(publicUrl.length)
    const response = await fetch(gateway.url + path, init)
    if (path.includes('/.well-known/')) {
      return new Response((await response.text()).replaceAll(publicTarget, String(gateway.grpcTarget)), response)
    }
    const { method = 'GET', body } = init
    const headers = stableHeaders(Object.fromEntries(new Headers(init.headers)))
    const request = { method, path, headers, ...(body ? { body: JSON.parse(String(body)) } : {}) }
    const copy = response.clone()
    calls.push({ request, answer: async () => answerOf(copy, await copy.text()) })
    return response
  }
}

function intercepting(calls: Call[]): Interceptor {
  return (options, nextCall) => {
    const { path, responseStream } = options.method_definition
    const request: Record<string, unknown> = { path }
    const messages: unknown[] = []
    let code: number | undefined
    const answer = () => ({ code, ...(responseStream ? { messages } : { message: messages[0] }) })
    calls.push({ request, answer })
    return new InterceptingCall(nextCall(options), {
      start(metadata, _listener, next) {
        const { authorization, 'a2a-tenant': tenant } = metadata.getMap()
        request.metadata = { authorization, ...(tenant ? { 'a2a-tenant': tenant } : {}) }
        next(metadata, {
          onReceiveMessage(message, take) {
            messages.push(plain(message))
            take(message)
          },
          onReceiveStatus(status, take) {
            code = status.code
            take(status)
          },
        })
      },
      sendMessage(message, next) {
        request.message = plain(message)
        next(message)
      },
    })
  }
}

/** A decoded message as JSON: what is not set is left out, and one of several fields stands under its own name. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Date) return value.toISOString()
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([name, field]) => (isSet(field) ? [member(name, field)] : []))
  return Object.fromEntries(entries)
}

function member(name: string, field: unknown): [string, unknown] {
  const { $case, value } = field as { $case?: string; value?: unknown }
  return $case === undefined ? [name, plain(field)] : [$case, plain(value)]
}

function isSet(field: unknown): boolean {
  return Boolean(field) && !(Array.isArray(field) && field.length === 0)
}
