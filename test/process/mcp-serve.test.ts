import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import { atTestEnd } from '../support/ends.ts'
import { freePort } from '../support/process-gateway.ts'
import { rouseWords } from '../support/program/rouse-words.ts'
import { until } from '../support/until.ts'

test('with --serve the first harness has a gateway of its own, which ends with it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rouse-mcp-'))
  atTestEnd(() => rmSync(dataDir, { recursive: true, force: true }))
  const url = `http://127.0.0.1:${await freePort()}`
  const env = { PATH: process.env.PATH ?? '', HOME: dataDir, ROUSE_URL: url, ROUSE_DATA_DIR: dataDir }
  const args = [...rouseWords(), 'mcp', '--serve']
  const client = new Client({ name: 'a-client', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' }))
  atTestEnd(() => client.close())
  const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} })
  expect(structuredContent).toMatchObject({ identity: '@operator' })
  const answers = () =>
    fetch(`${url}/readyz`).then(
      ({ status }) => status,
      () => undefined,
    )
  expect(await answers()).toBe(200)
  await client.close()
  await until(answers, (status) => status === undefined)
}, 30_000)
