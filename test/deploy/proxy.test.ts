import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bodyCeiling, connectionLimits, projectLimits } from '../../src/limits.ts'

const nginx = readFileSync(join(import.meta.dirname, '../../deploy/nginx.conf'), 'utf8')
const [beforeHttp, http, grpc] = nginx.split(/^ {2}server \{$/m) as [string, string, string]

const units: Record<string, number> = { '': 1, k: 1024, m: 1024 * 1024, s: 1, h: 3600 }

/** The values of a directive, each in bytes or seconds. */
function values(text: string, directive: string): number[] {
  const [, words = ''] = new RegExp(`^ *${directive}((?: \\d+\\w?)+);$`, 'm').exec(text) ?? []
  return [...words.matchAll(/ (\d+)(\w?)/g)].map(([, count, unit]) => Number(count) * units[unit ?? '']!)
}

/** The value of a directive that has one; NaN: there is no such directive. */
function value(text: string, directive: string): number {
  return values(text, directive)[0] ?? Number.NaN
}

test('it accepts the bodies that a gateway accepts, and buffers none without a key', () => {
  const max = bodyCeiling
  expect(value(http, 'client_max_body_size')).toBe(max)
  // The message and the five bytes before it.
  expect(value(grpc, 'client_max_body_size')).toBeGreaterThanOrEqual(max + 5)
  expect(value(grpc, 'client_max_body_size')).toBeLessThanOrEqual(max + 1024 * 1024)
  expect(http).toMatch(/^ {4}proxy_request_buffering off;$/m)
})

test('the bodies that it buffers for a second gateway are small, and in memory', () => {
  const [, location] = http.split('location @repeatable {') as [string, string]
  expect(location).toMatch(/^ *proxy_request_buffering on;$/m)
  const [, digits] =
    /map \$content_length \$is_small \{\s+"~\^\[0-9\]\{1,(\d)\}\$" 1;\s+default 0;/.exec(beforeHttp) ?? []
  expect(10 ** Number(digits)).toBeLessThanOrEqual(value(location, 'client_body_buffer_size'))
  expect(beforeHttp).toContain('map $request_method$has_key$takes_key$is_small $may_repeat')
})

test('slow senders, and addresses above the limit of a gateway, are disconnected', () => {
  expect(value(beforeHttp, 'client_header_timeout')).toBe(connectionLimits.headers.max)
  // A gateway measures the time of a whole request; a proxy only its silence.
  expect(value(beforeHttp, 'client_body_timeout')).toBeLessThanOrEqual(connectionLimits.headers.max)
  expect(value(beforeHttp, 'limit_conn connections')).toBe(connectionLimits.connectionsPerAddress.max)
  expect(beforeHttp).toMatch(/limit_conn_zone \$binary_remote_addr zone=connections:\d+m;/)
  expect(beforeHttp).toMatch(/limit_req_zone \$binary_remote_addr zone=requests:\d+m rate=\d+r\/s;/)
  expect(beforeHttp).toMatch(/limit_req zone=requests burst=\d+ nodelay;/)
  // Of one key, whatever addresses it comes from.
  expect(beforeHttp).toMatch(/limit_conn_zone \$http_authorization zone=key_connections:\d+m;/)
  expect(beforeHttp).toMatch(/limit_req_zone \$http_authorization zone=key_requests:\d+m rate=\d+r\/s;/)
  for (const limit of ['limit_conn_status', 'limit_req_status']) expect(beforeHttp).toContain(`${limit} 429;`)
})

test('a key that keeps the limits of a gateway meets none of the proxy', () => {
  const { streams, blockingCalls, requestsAtOnce, requestsQueued, requestsPerMinute } = projectLimits
  const ofKey = streams.max / 2 + blockingCalls.max / 2 + requestsAtOnce.max + requestsQueued.max
  expect(value(beforeHttp, 'limit_conn key_connections')).toBeGreaterThan(ofKey)
  const [, rate] = /zone=key_requests:\d+m rate=(\d+)r\/s;/.exec(beforeHttp) ?? []
  expect(Number(rate)).toBeGreaterThanOrEqual(requestsPerMinute.max / 60)
})

test('the headers of a request are as large as a gateway accepts, in all', () => {
  // One large buffer, after the first: with four of them a request has four times as much.
  expect(values(beforeHttp, 'large_client_header_buffers')).toEqual([1, connectionLimits.headerBytes.max])
  expect(value(beforeHttp, 'client_header_buffer_size')).toBeLessThanOrEqual(1024)
  for (const server of [http, grpc]) expect(server).not.toContain('client_header_buffer')
})

test('a reader that reads nothing is disconnected when a gateway would do it', () => {
  expect(value(beforeHttp, 'send_timeout')).toBe(connectionLimits.readerStall.max)
  for (const server of [http, grpc]) expect(value(server, 'send_timeout')).toBeNaN()
})

test('an idle connection of a client is closed when a gateway would do it, and the client is told', () => {
  expect(values(http, 'keepalive_timeout')).toEqual([5, 5])
  expect(value(grpc, 'keepalive_timeout')).toBe(300)
  expect(value(grpc, 'http2_max_concurrent_streams')).toBe(connectionLimits.grpcCalls.max)
})

test('a body that waits for room at a gateway is not given up', () => {
  for (const [server, directive] of [
    [http, 'proxy_send_timeout'],
    [grpc, 'grpc_send_timeout'],
  ] as const) {
    expect(value(server, directive)).toBeGreaterThan(30)
  }
})

test('it closes an idle connection to a gateway before the gateway does', () => {
  const upstream = /upstream gateways \{([\s\S]*?)\}/.exec(beforeHttp)?.[1] ?? ''
  expect(value(upstream, 'keepalive_timeout')).toBeLessThan(5)
  const [, grpcUpstream] = /upstream gateways_grpc \{([\s\S]*?)\}/.exec(beforeHttp) ?? []
  expect(value(grpcUpstream ?? '', 'keepalive_timeout')).toBeLessThan(300)
})

test('a stream lives as long as it likes', () => {
  expect(value(http, 'proxy_read_timeout')).toBeGreaterThanOrEqual(900)
  expect(http).toMatch(/^ *proxy_buffering off;$/m)
  expect(value(grpc, 'grpc_read_timeout')).toBe(86_400)
})
