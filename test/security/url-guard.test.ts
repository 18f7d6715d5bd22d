import { expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { OutboundFetch } from '../../src/security/outbound-fetch.ts'
import { errorOf, request } from './receivers.ts'

const closed = new OutboundFetch({ allow: [] })
const open = new OutboundFetch({ allow: ['127.0.0.0/8'] })

test.each([
  'https://example.com/hook',
  'http://example.com:8080/hook?x=1',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/',
  'https://[::ffff:8.8.8.8]/',
  'https://localhost.example.com/',
  `https://${'a.'.repeat(126)}b/`,
])('%s is allowed', (url) => {
  expect(closed.checkUrl(url).href).toBe(new URL(url).href)
})

test.each(['', 'example.com', '/hook', 'http://', 'http://a b/', 'http://1.2.3.4.5/', 'http://[::1%25lo]/'])(
  '"%s" is not a URL',
  (url) => {
    const problem = problemOf(() => closed.checkUrl(url))
    expect(problem).toMatchObject({ code: 'invalid-request', field: 'url' })
    expect(problem.message).toMatch(/^url: /)
  },
)

const refused = [
  'ftp://example.com/',
  'file:///etc/passwd',
  'unix:/var/run/docker.sock',
  'data:text/plain,x',
  'https://user@example.com/',
  'https://:secret@example.com/',
  'http://8.8.8.8@[::1]/',
  `https://${'a.'.repeat(127)}b/`,
  'http://127.0.0.1/',
  'http://127.0.0.1./',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://①②⑦.0.0.1/',
  'http://%31%32%37.0.0.1/',
  'http://0/',
  'http://10.0.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[fd00:ec2::254]/',
  'http://localhost/',
  'http://localhost./',
  'http://LOCALHOST:8080/',
  'http://loc%61lhost/',
  'http://a.localhost/',
  'http://a.localhost./',
]
test.each(refused)('%s is refused, when it is registered and when it is called', async (url) => {
  const problem = problemOf(() => closed.checkUrl(url, 'harnessTargetMetadata.url'))
  expect(problem).toMatchObject({ code: 'url-not-allowed', field: 'harnessTargetMetadata.url' })
  expect(problem.message).toMatch(/^harnessTargetMetadata\.url: /)
  expect(await errorOf(closed.post(request(url)))).toMatchObject({ kind: 'refused' })
})

test.each([
  ['http://10.1.2.3/', '10.1.2.3/32'],
  ['http://[::ffff:7f00:1]/', '::ffff:7f00:1/128'],
  ['http://localhost:9/', '127.0.0.0/8,::1/128'],
])('the refusal of %s names the setting', (url, entry) => {
  expect(problemOf(() => closed.checkUrl(url)).message).toMatch(/set ROUSE_WEBHOOK_ALLOW to /)
  expect(problemOf(() => closed.checkUrl(url)).message).toContain(`${entry}.`)
})

test.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://[::ffff:7f00:1]/',
  'http://localhost/',
  'http://a.localhost./',
])('%s is allowed where loopback is', (url) => {
  expect(open.checkUrl(url)).toBeInstanceOf(URL)
})

test('a bad range is refused by name', () => {
  expect(() => new OutboundFetch({ allow: ['127.0.0.0/40'] })).toThrow('"127.0.0.0/40"')
})

function problemOf(work: () => unknown): Problem {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(Problem)
    return error as Problem
  }
  throw new Error('expected a problem')
}
