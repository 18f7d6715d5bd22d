import { expect, test } from 'vitest'
import { sizeLimits } from '../../src/limits.ts'
import { begin } from '../sessions/sessions.ts'
import { startGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'

const { max } = sizeLimits.description
/** A description with so many bytes as JSON, most of them in the modes. */
function sized(bytes: number): { description: string; inputModes: string[]; outputModes: string[] } {
  const modes = Array.from({ length: 75 }, (_, at) => `${at}/`.padEnd(200, 'x'))
  const made = (description: string) => ({ description, inputModes: modes, outputModes: modes })
  const { inputModes, outputModes } = made('')
  return made('d'.repeat(bytes - Buffer.byteLength(JSON.stringify(['', [], inputModes, outputModes, []]))))
}

test('what an agent says about itself is bounded together', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna', sized(max))
  const { status, body } = await gateway.call('PATCH', '/v1/agents/donna', sized(max + 1), donna)
  expect(status).toBe(413)
  expect(body).toMatchObject({ code: 'payload-too-large', field: 'skills', limit: 'description', max })
})

test('agents that say more from before are listed in shorter pages, and change in all but that', async () => {
  await using gateway = await startGateway()
  const handles = Array.from({ length: 12 }, (_, at) => `agent-${`${at}`.padStart(2, '0')}`)
  const [first] = await Promise.all(handles.map((handle) => gateway.addAgent(handle)))
  await begin(gateway, first!, { capabilities: ['turn/start'] })
  const modes = JSON.stringify(Array.from({ length: 100 }, (_, at) => `${at}/`.padEnd(1_200, 'x')))
  await besideStore(gateway.dataDir, 'update agent set input_modes = ?', modes)
  const found: string[] = []
  const lengths: number[] = []
  for (let pageToken = ''; lengths.length === 0 || pageToken !== ''; ) {
    const path = `/v1/agents?pageToken=${encodeURIComponent(pageToken)}`
    const { body } = await gateway.call('GET', path, undefined, first)
    expect(JSON.stringify(body).length).toBeLessThan(sizeLimits.page.max * 1.1)
    for (const { handle, session } of body.agents) {
      expect(session?.capabilities).toEqual(handle === '@agent-00' ? ['turn/start'] : undefined)
      found.push(handle)
    }
    lengths.push(body.agents.length)
    pageToken = body.nextPageToken
  }
  expect(found).toEqual(handles.map((handle) => `@${handle}`))
  expect(lengths.length).toBeGreaterThan(1)
  const changed = await gateway.call('PATCH', '/v1/agents/agent-00', { access: 'private' }, first)
  expect([changed.status, changed.body.inputModes.length]).toEqual([200, 100])
})
