import { writeFile } from 'node:fs/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { request } from '../approvals/desk.ts'
import { personKey } from '../approvals/person-key.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { executablePath, isTooWide, openPage, stopBrowser, violationsIn } from './browser.ts'
import { openOffice } from './office.ts'
import { smallPicture } from './picture.ts'

afterAll(stopBrowser)

/** PICTURES=1 writes the pictures of docs/page.md. */
const folder = process.env.PICTURES ? new URL('../../docs/', import.meta.url).pathname : undefined
const desk = { viewport: { width: 1280, height: 800 } }
const phone = { viewport: { width: 360, height: 740 } }
/** A picture is smaller than a screen. */
const pictured = { desk: { width: 980, height: 600 }, phone: phone.viewport }

/** Of each view: its address, a text that it has, and the picture of it on a desk in the light, or on a phone in the dark. */
type Places = Record<string, { at: string; text: string; picture?: 'desk' | 'phone' }>

describe.skipIf(executablePath === undefined)('every view', () => {
  test.each([
    { name: 'on a desk', of: 'desk', options: desk },
    { name: 'on a desk in the dark', of: '', options: { ...desk, colorScheme: 'dark' as const } },
    { name: 'on a phone', of: '', options: phone },
    { name: 'on a phone in the dark', of: 'phone', options: { ...phone, colorScheme: 'dark' as const } },
  ])('is readable $name, and without a flaw of accessibility', async ({ of, options }) => {
    await using gateway = await startGateway()
    const places = await openMorning(gateway)
    const anna = await personKey(gateway, 'anna', { role: 'admin' })
    const { page, faults, asked } = await openPage(gateway, anna, options)
    for (const [view, { at, text, picture }] of Object.entries(places)) {
      await page.evaluate(`location.hash = ${JSON.stringify(at)}`)
      await page.getByRole('main').getByText(text).locator('visible=true').first().waitFor()
      expect(await isTooWide(page), view).toBe(false)
      expect(await violationsIn(page), view).toEqual([])
      if (folder === undefined || picture !== of) continue
      await page.setViewportSize(pictured[picture as keyof typeof pictured])
      await page.waitForTimeout(500)
      await writeFile(`${folder}page-${view}.png`, smallPicture(await page.screenshot()))
      await page.setViewportSize(options.viewport)
    }
    expect(faults).toEqual([])
    expect(asked).toEqual([])
  })
})

/** An office as a person finds it in the morning, and the views of it. */
async function openMorning(gateway: TestGateway): Promise<Places> {
  const { donna, cody, lola, asking, working } = await openOffice(gateway)
  const command = 'npm run migrate -- --to 0042 \\\n  && psql "$DATABASE_URL" -c \'analyze orders\''
  const approval = request({
    input: { command },
    reason: 'The schema test fails without 0042.',
    cwd: '/home/anna/src/shop',
  })
  const { body } = await gateway.call('POST', '/v1/approvals', { ...approval, harness: 'codex' }, cody)
  for (const subject of ['Tests are red', 'Found it', 'Tests are green again', 'Shall I go on?']) {
    await gateway.call('POST', '/v1/messages', { to: '@operator', subject, body: 'Since 9f3c, in the parser.' }, lola)
  }
  await gateway.call(
    'POST',
    '/v1/messages',
    { to: '@operator', subject: 'The build of last night is done', body: 'No error.' },
    donna,
  )
  await gateway.call('POST', '/v1/messages', { to: '@cody', subject: 'Take the rest of the day off' })
  await gateway.call('POST', '/v1/claims', { ref: 'issue 42: the parser loses comments' }, donna)
  await gateway.call('POST', '/v1/claims', { ref: 'docs/release-notes.md' }, cody)
  const { body: inbox } = await gateway.call('GET', '/v1/inbox?agent=lola')
  const { deliveries } = (await gateway.call('GET', '/v1/deliveries')).body
  const need = (id: string) => `#/needs/${encodeURIComponent(id)}`
  return {
    needs: { at: need(body.approvalId), text: 'It wants to run this command', picture: 'desk' },
    'needs-phone': { at: '#/needs', text: 'Deploy the release.', picture: 'phone' },
    question: { at: need(`${asking}@3`), text: 'What led here', picture: 'phone' },
    'mail-of-one': { at: need('mail:@lola'), text: 'Reply to @lola', picture: 'desk' },
    agents: { at: '#/agents', text: '@cody', picture: 'desk' },
    'agents-phone': { at: '#/agents', text: '@cody', picture: 'phone' },
    agent: { at: '#/agents/%40donna', text: 'Subscriptions', picture: 'desk' },
    tasks: { at: '#/tasks', text: 'Review the parser.', picture: 'desk' },
    task: { at: `#/tasks/${asking}`, text: 'Your answer', picture: 'desk' },
    working: { at: `#/tasks/${working}`, text: 'I read it now.' },
    mail: { at: '#/mail', text: 'The build of last night', picture: 'phone' },
    sent: { at: '#/mail?box=sent', text: 'Take the rest of the day off' },
    thread: {
      at: `#/threads/${encodeURIComponent(inbox.messages[0].threadId)}`,
      text: 'Tests are red.',
      picture: 'desk',
    },
    write: { at: '#/write?to=%40donna', text: 'Send as a task', picture: 'phone' },
    deliveries: { at: '#/deliveries', text: 'One row is one wake', picture: 'desk' },
    delivery: { at: `#/deliveries/${deliveries[0].eventId}`, text: 'Attempts', picture: 'desk' },
    claims: { at: '#/claims', text: 'issue 42', picture: 'desk' },
    log: { at: '#/log', text: 'agent.created', picture: 'desk' },
    figures: { at: '#/figures', text: 'Wakes of the last hour', picture: 'desk' },
    'figures-phone': { at: '#/figures', text: 'Wakes of the last hour', picture: 'phone' },
    you: { at: '#/you', text: 'Notifications', picture: 'phone' },
    nothing: { at: '#/nothing', text: 'Nothing has this address.' },
    gone: { at: need(`${working}@1`), text: 'Answered meanwhile' },
  }
}
