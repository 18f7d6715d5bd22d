import { afterAll, describe, expect, test } from 'vitest'
import { openDesk } from '../approvals/desk.ts'
import { personKey } from '../approvals/person-key.ts'
import { until } from '../support/until.ts'
import { executablePath, isTooWide, openPage, stopBrowser, violationsIn } from './browser.ts'

afterAll(stopBrowser)

const hostile =
  'npm run migrate -- --to 0042 \\\n  && psql "$DATABASE_URL"\r\n# safe\u202egnp.exe\u200b\u00a0\u{e0041}<b>bold</b>'
const spelled = [
  'npm run migrate -- --to 0042 \\',
  '  && psql "$DATABASE_URL"⟨U+000D⟩',
  '# safe⟨U+202E⟩gnp.exe⟨U+200B⟩⟨U+00A0⟩⟨U+E0041⟩<b>bold</b>',
]
const questions = [
  {
    question: 'Which database?',
    header: 'Database',
    options: [{ label: 'staging', description: 'A copy' }, { label: 'production' }],
  },
  {
    question: 'Which tables?',
    multiSelect: true,
    options: [{ label: 'orders' }, { label: 'users' }, { label: 'logs' }],
  },
]
const untilNew = 1_050

describe.skipIf(executablePath === undefined)('a person who may approve', () => {
  test('sees the command exactly and whole, allows it once, and no single key or early press does', async () => {
    await using desk = await openDesk()
    const { page, faults } = await openPage(desk.gateway, desk.anna)
    await page.getByText('Nothing waits for you.').waitFor()
    const { body: asked } = await desk.ask({
      input: { command: hostile, timeout: 5 },
      reason: 'The schema test fails.',
      cwd: '/home/anna/shop',
      mode: 'default',
    })
    const entry = page.locator('.entry')
    await page.locator('.lines [data-kind=approval]').waitFor()
    await entry.getByText('It wants to run this command').waitFor()
    const seen = await entry.innerText()
    for (const text of [
      '@donna on claude',
      '/home/anna/shop',
      'mode default',
      '3 lines, 86 characters, shown whole.',
      'The schema test fails.',
      '"timeout": 5',
      'ends in 9 min',
    ])
      expect(seen).toContain(text)
    expect(await entry.locator('.exact').first().locator('li').allInnerTexts()).toEqual(spelled)
    expect(await entry.locator('.exact b').count()).toBe(0)
    expect(await violationsIn(page)).toEqual([])
    // `a` only goes to the button.
    await page.keyboard.press('a')
    expect(await page.evaluate('document.activeElement.innerText')).toContain('Allow once')
    const state = async () => (await desk.read(asked.approvalId)).body
    expect((await state()).state).toBe('open')
    await page.waitForTimeout(untilNew)
    await page.keyboard.press('Enter')
    await page.getByText('Allowed once: Bash.').waitFor()
    expect(await state()).toMatchObject({ state: 'answered', decision: { answer: 'once', by: 'anna' } })

    // The next one appears under the finger: a press that was on its way does nothing.
    const { body: next } = await desk.ask({ input: { command: 'rm -rf /' } })
    await entry.locator('.exact', { hasText: 'rm -rf /' }).waitFor()
    await entry.getByRole('button', { name: 'Allow once' }).click()
    await page.getByText('This has only just appeared.').waitFor()
    expect((await desk.read(next.approvalId)).body.state).toBe('open')
    expect(faults).toEqual([])
  })

  test('denies with a sentence, and answers questions by options and in words', async () => {
    await using desk = await openDesk()
    const { body: denied } = await desk.ask()
    const { page, faults } = await openPage(desk.gateway, desk.anna)
    await page.locator('.entry').getByRole('button', { name: 'Deny…' }).waitFor()
    await page.waitForTimeout(untilNew)
    await page.keyboard.press('d')
    await page.keyboard.type('Use the staging copy instead.')
    expect(await violationsIn(page)).toEqual([])
    await page.keyboard.press('Control+Enter')
    await page.getByText('Denied: Bash.').waitFor()
    const { body } = await desk.read(denied.approvalId)
    expect(body.decision).toMatchObject({ answer: 'deny', message: 'Use the staging copy instead.', by: 'anna' })

    const { body: asked } = await desk.ask({ kind: 'question', tool: 'AskUserQuestion', input: { questions } })
    await page.getByRole('group', { name: 'Which database?' }).getByLabel('staging').check()
    const tables = page.getByRole('group', { name: 'Which tables?' })
    await tables.getByLabel('orders').check()
    await tables.getByLabel('logs').check()
    await tables.getByLabel('Or in your words').fill('and carts')
    expect(await violationsIn(page)).toEqual([])
    await page.waitForTimeout(untilNew)
    await page.getByRole('button', { name: 'Send the answer' }).click()
    await page.getByText('Your answer is sent.').waitFor()
    const { body: answered } = await desk.read(asked.approvalId)
    expect(answered.decision).toMatchObject({
      answer: 'answer',
      answers: { 'Which database?': 'staging', 'Which tables?': 'orders, logs, and carts' },
    })
    expect(faults).toEqual([])
  })

  test('is told who was first, and what is too long to be approved from here', async () => {
    await using desk = await openDesk()
    const ben = await personKey(desk.gateway, 'ben')
    const { body: asked } = await desk.ask()
    const { page, faults } = await openPage(desk.gateway, desk.anna, { viewport: { width: 360, height: 740 } })
    await page.locator('.lines [data-kind=approval]').click()
    await page.getByRole('button', { name: 'Allow once' }).waitFor()
    await page.waitForTimeout(untilNew)
    // The answer of the other one arrives before the page has heard of it.
    await page.route('**/v1/needs', (route) => route.abort())
    await desk.decide(asked.approvalId, { answer: 'deny', inputHash: asked.inputHash }, ben)
    await page.getByRole('button', { name: 'Allow once' }).click()
    await page.locator('#notes.bad', { hasText: 'ben' }).waitFor()
    await page.unroute('**/v1/needs')
    await page.getByText('denied by').waitFor()
    expect(await page.locator('.entry').innerText()).toMatch(/denied by ben/)
    expect(await isTooWide(page)).toBe(false)

    const { body: long } = await desk.ask({ input: { command: 'x'.repeat(70_000) } })
    await page.evaluate(`location.hash = '#/needs/${encodeURIComponent(long.approvalId)}'`)
    await page.getByText('It is too long to be approved from here.').waitFor()
    expect(await page.getByRole('button', { name: 'Allow once' }).count()).toBe(0)

    // What one has not the right to decide, one still sees.
    const { body: other } = await desk.ask({ tool: 'Edit', input: { file: 'a\u202eb', lines: ['x', 'y'] } })
    const admin = await openPage(desk.gateway, desk.gateway.adminKey)
    await admin.page.evaluate(`location.hash = '#/needs/${encodeURIComponent(other.approvalId)}'`)
    await admin.page.getByText('rouse operator key add anna --approve').waitFor()
    expect(await admin.page.locator('.exact').innerText()).toContain('"file": "a⟨U+202E⟩b"')
    expect(await admin.page.getByRole('button', { name: 'Allow once' }).count()).toBe(0)
    await desk.close(other.approvalId, { state: 'answered_there' })
    await admin.page.getByText('It was answered where the harness runs').waitFor()
    await until(
      () => admin.page.locator('.rail .badge').innerText(),
      (count) => count === '1',
    )
    expect([...faults, ...admin.faults]).toEqual([])
  })

  test('sees what stands behind many blanks, and allows a long input once its end was in sight', async () => {
    await using desk = await openDesk()
    const { page, faults } = await openPage(desk.gateway, desk.anna)
    const box = page.locator('.entry .exact').first()
    const allow = page.getByRole('button', { name: 'Allow once' })
    await desk.ask({ input: { command: `ls -la${'\n'.repeat(301)}rm -rf ~/important${' '.repeat(500)}# all\n\n\n.` } })
    await box.waitFor()
    expect(await box.locator('li').allInnerTexts()).toEqual([
      'ls -la',
      '⟨300 empty lines⟩',
      'rm -rf ~/important⟨500 blanks⟩# all',
      '',
      '',
      '.',
    ])
    await page.getByText('305 lines').waitFor()
    expect(await box.locator('li').evaluateAll((rows) => rows.map((row) => row.getAttribute('value')))).toEqual([
      '1',
      '2',
      '302',
      '303',
      '304',
      '305',
    ])
    // It fits, so nothing is to be read first.
    expect(await allow.isEnabled()).toBe(true)
    await page.waitForTimeout(untilNew)
    await allow.click()
    await page.getByText('Allowed once: Bash.').waitFor()

    const { body: long } = await desk.ask({ input: { command: `${'# on\n'.repeat(300)}rm -rf ~/important`, more: 1 } })
    await page.getByText('Read to the end first').waitFor()
    expect(await allow.isEnabled()).toBe(false)
    expect(await violationsIn(page)).toEqual([])
    await page.waitForTimeout(untilNew)
    // `a` goes to the box while there is no button to press.
    await page.keyboard.press('a')
    expect(await page.evaluate('document.activeElement.className')).toBe('exact')
    await page.keyboard.press('PageDown')
    await page.waitForTimeout(300)
    expect(await allow.isEnabled()).toBe(false)
    await page.keyboard.press('End')
    await page.getByText('Read to the end first').waitFor({ state: 'detached' })
    await page.keyboard.press('a')
    await page.keyboard.press('Enter')
    await until(
      async () => (await desk.read(long.approvalId)).body.state,
      (state) => state === 'answered',
    )
    expect(faults).toEqual([])
  })

  test('sees what has not the shape of a question as it came, denies it, and goes on', async () => {
    await using desk = await openDesk()
    const { page, faults } = await openPage(desk.gateway, desk.anna)
    const shapes = [
      { questions: [{ question: 'Which?', options: null }] },
      { questions: [{ question: 'Which?', options: 'abc' }] },
      { questions: [{ question: 'Which?', options: [null] }] },
      { questions: [{ question: 'Which?', options: [{ label: { toString: 1 } }] }] },
      { questions: [null] },
      { questions: 'abc' },
    ]
    let input: object = {}
    await page.route('**/v1/approvals/*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), input } })
    })
    for (const [at, shape] of shapes.entries()) {
      input = shape
      const { body: asked } = await desk.ask({ kind: 'question', tool: 'AskUserQuestion', input: { questions } })
      await page.locator('.exact', { hasText: asked.approvalId }).waitFor()
      expect(await page.locator('.entry [data-key=a]').count()).toBe(0)
      if (at === 0) expect(await violationsIn(page)).toEqual([])
      await page.locator('.entry').getByRole('button', { name: 'Deny…' }).click()
      await page.keyboard.press('Control+Enter')
      await page.getByText('Nothing waits for you.').waitFor()
      expect((await desk.read(asked.approvalId)).body.decision).toMatchObject({ answer: 'deny' })
    }
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('row', { name: '@donna' }).waitFor()
    expect(faults).toEqual([])
  })

  test('opens an approval and a question beyond the five of the list by its link, answers it, and finds the rest', async () => {
    await using desk = await openDesk()
    const asked: string[] = []
    for (let n = 1; n <= 8; n++) asked.push((await desk.ask({ input: { command: `step ${n}` } })).body.approvalId)
    const questionIds: string[] = []
    for (let n = 1; n <= 6; n++) {
      const { id } = await desk.gateway.send('donna', `Deploy ${n}`)
      await desk.gateway.move(desk.donna, id, 'input-required', { message: `Where to, ${n}?` })
      questionIds.push(id)
    }
    const { page, faults } = await openPage(desk.gateway, desk.anna)
    const entry = page.locator('.entry')
    const visit = (id: string) => page.evaluate(`location.hash = '#/needs/${encodeURIComponent(id)}'`)
    await page.locator('.lines a', { hasText: '3 more of @donna' }).waitFor()
    expect(await page.locator('.lines [data-kind=approval]:not(.group)').count()).toBe(5)

    // The link of a notification.
    await visit(asked[7]!)
    await entry.locator('.exact', { hasText: 'step 8' }).waitFor()
    await entry.getByRole('heading', { name: 'Bash: step 8' }).waitFor()
    expect(await violationsIn(page)).toEqual([])
    await page.waitForTimeout(untilNew)
    await entry.getByRole('button', { name: 'Allow once' }).click()
    await page.getByText('Allowed once: Bash.').waitFor()
    expect((await desk.read(asked[7]!)).body.state).toBe('answered')
    await visit(asked[7]!)
    await entry.getByText('allowed once by').waitFor()

    // The line of the rest lists those that have no line of their own.
    await page.locator('.lines a', { hasText: '2 more of @donna' }).click()
    await entry.locator('.items li').nth(1).waitFor()
    expect(await entry.locator('.items summary b').allInnerTexts()).toEqual(['Bash: step 6', 'Bash: step 7'])
    expect(await page.locator('.lines a[aria-current=true]').innerText()).toContain('2 more of @donna')
    expect(await violationsIn(page)).toEqual([])
    await entry.getByRole('link', { name: 'See all of it, and answer' }).click()
    await entry.locator('.exact', { hasText: 'step 6' }).waitFor()
    await page.waitForTimeout(untilNew)
    await page.keyboard.press('d')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Denied: Bash.').waitFor()
    expect((await desk.read(asked[5]!)).body.decision).toMatchObject({ answer: 'deny' })

    const { body } = await desk.gateway.call('GET', '/v1/needs?agent=@donna')
    const question = body.needs.find(({ taskId }: { taskId?: string }) => taskId === questionIds[5])
    await visit(question.id)
    await entry.getByText('Where to, 6?').first().waitFor()
    await entry.getByLabel('Your answer').waitFor()

    // Without an answer of the gateway nothing is said of it.
    await page.route('**/v1/approvals/*', (route) => route.abort())
    await visit(asked[6]!)
    await page.locator('.detail').getByRole('alert').waitFor()
    expect(await page.locator('.detail').innerText()).not.toContain('waits no more')
    await page.unroute('**/v1/approvals/*')
    await page.locator('.detail').getByRole('button', { name: 'Try again' }).click()
    await entry.locator('.exact', { hasText: 'step 7' }).waitFor()
    expect(faults).toEqual([])
  })

  test('sees the label of an option whole and exact, and is offered none that is too long', async () => {
    await using desk = await openDesk()
    const { page, faults } = await openPage(desk.gateway, desk.anna)
    const label = `${'safe '.repeat(70)}  and\n\u200bdrop the tables`
    const input = { questions: [{ question: 'Which?', options: [{ label }, { label: 'x'.repeat(1_001) }] }] }
    await page.route('**/v1/approvals/*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), input } })
    })
    await desk.ask({ kind: 'question', tool: 'AskUserQuestion', input: { questions } })
    await page.getByText('An option of 1,001 characters is too long to be chosen here.').waitFor()
    expect(await page.locator('.entry .option bdi').allTextContents()).toEqual([label.replace('\u200b', '⟨U+200B⟩')])
    expect(await page.locator('.entry .option bdi').innerText()).toContain('safe   and\n⟨U+200B⟩drop')
    expect(await page.locator('.entry .option input').inputValue()).toBe(label)
    expect(await isTooWide(page)).toBe(false)
    expect(faults).toEqual([])
  })
})
