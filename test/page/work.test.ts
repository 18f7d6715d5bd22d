import { afterAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { executablePath, isTooWide, openPage, stopBrowser, violationsIn } from './browser.ts'

afterAll(stopBrowser)

describe.skipIf(executablePath === undefined)('a person', () => {
  test('writes mail, sees its wake arrive without a reload, and sends it again', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    const watching = await openPage(gateway, gateway.adminKey)
    await watching.page.getByRole('link', { name: 'Deliveries' }).click()
    await watching.page.getByText('No deliveries here.').waitFor()

    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await page.evaluate(`location.hash = '#/write'`)
    await page.getByLabel('To', { exact: true }).fill('@donna')
    await page.getByLabel('Subject').fill('Tests are red')
    await page.getByLabel('Text').fill('Since 9f3c.')
    await page.getByRole('button', { name: 'Send as mail' }).click()
    await page.getByRole('heading', { name: 'Tests are red' }).waitFor()
    await page.getByText('Since 9f3c.').waitFor()
    const row = watching.page.getByRole('row', { name: 'delivered' })
    await row.waitFor()
    await receiver.waitFor(1)

    // A step of its recipient appears in the chain.
    const { body } = await gateway.call('GET', '/v1/inbox', undefined, donna)
    await gateway.call('POST', `/v1/messages/${body.messages[0].messageId}/status`, { status: 'acked' }, donna)
    await page.getByText('→ acked').waitFor()

    await row.getByRole('checkbox').check()
    await watching.page.getByRole('button', { name: 'Send 1 again…' }).click()
    const dialog = watching.page.getByRole('dialog')
    expect(await dialog.textContent()).toContain('Send 1 delivery again?')
    await dialog.getByRole('button', { name: 'Send again' }).click()
    await until(
      () => watching.page.getByRole('row', { name: 'delivered' }).count(),
      (count) => count === 2,
    )
    await receiver.waitFor(2)
    expect([...faults, ...watching.faults]).toEqual([])
  })

  test('sends a task, and reads its story as it goes on', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await page.evaluate(`location.hash = '#/write'`)
    await page.getByLabel('To', { exact: true }).fill('@donna')
    await page.getByLabel('Text').fill('Update the changelog.')
    await page.getByRole('button', { name: 'Send as a task' }).click()
    await page.getByRole('heading', { name: 'Update the changelog.' }).waitFor()
    const { body } = await gateway.call('GET', '/v1/tasks', undefined, donna)
    const artifacts = [{ name: 'diff', parts: [{ text: '+1 line' }] }]
    await gateway.move(donna, body.tasks[0].id, 'completed', { message: 'It is done.', artifacts })
    await page.getByText('+1 line').waitFor()
    const story = await page.locator('.story').innerText()
    expect(story).toMatch(
      /@operator wrote\s+Update the changelog\.[\s\S]*made it\s+submitted[\s\S]*moved it to\s+completed\s+It is done\./,
    )
    expect(faults).toEqual([])
  })

  test('sees hostile texts as texts', async () => {
    await using gateway = await startGateway()
    const mallory = await gateway.addAgent('mallory', { description: '<img src=x onerror=alert(1)>' })
    const markup =
      '<img src=x onerror="document.title=1"><script>window.pwned = 1</script><style>*{display:none}</style>'
    const turned = 'safe\u202egnp.exe\u2066\u200b\u0007\u001b[2J end'
    const address = 'javascript:alert(1)'
    const body = `${markup}\n${turned}\n${address}\n${'W'.repeat(200_000)}`
    await gateway.call('POST', '/v1/messages', { to: '@operator', subject: markup.slice(0, 150), body }, mallory)
    const { id } = await gateway.send('mallory', markup)
    const parts = [{ text: 'M'.repeat(900_000) }]
    await gateway.move(mallory, id, 'input-required', { message: { parts } })
    await gateway.move(mallory, id, 'working', {
      message: { parts: [{ text: turned }, { url: address }, { data: { '</script>': markup } }] },
    })
    await gateway.move(mallory, id, 'input-required', { message: { parts } })
    const { page, faults, asked } = await openPage(gateway, gateway.adminKey, { viewport: { width: 360, height: 740 } })
    await page.locator('.lines [data-kind=mail]').click()
    const seen = await page.locator('.entry').innerText()
    expect(seen).toContain('<img src=x onerror="document.title=1">')
    expect(await isTooWide(page)).toBe(false)
    await page.evaluate(`location.hash = '#/tasks/${id}'`)
    await page.getByText('safe⟨U+202E⟩gnp.exe⟨U+2066⟩⟨U+200B⟩⟨U+0007⟩⟨U+001B⟩[2J end').waitFor()
    const longest = page.getByText('All 900,000 characters').first()
    await longest.click()
    await until(
      () => page.locator('.said.all').first().textContent(),
      (text) => text?.length === 900_000,
    )
    expect(await isTooWide(page)).toBe(false)
    const headings = {
      '#/agents': 'Agents',
      '#/agents/%40mallory': '@mallory',
      '#/log': 'Live log',
      '#/deliveries?agent=<b>': 'Deliveries',
    }
    for (const [hash, name] of Object.entries(headings)) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      await page.getByRole('heading', { name, exact: true }).waitFor()
      await page.getByText('Reading…').waitFor({ state: 'detached' })
      expect(await isTooWide(page), hash).toBe(false)
    }
    expect(await page.evaluate('[window.pwned, document.images.length, document.scripts.length]')).toEqual([
      undefined,
      0,
      1,
    ])
    expect(await page.evaluate(`[...document.links].every((link) => link.href.startsWith(location.origin))`)).toBe(true)
    expect(faults).toEqual([])
    expect(asked).toEqual([])
  })

  test('signs in with the keyboard alone, with the key of an agent, and sees what is of this agent', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const lola = await gateway.addAgent('lola')
    await gateway.call('POST', '/v1/messages', { to: '@lola', subject: 'a secret' }, donna)
    const { page, faults } = await openPage(gateway)
    expect(await violationsIn(page)).toEqual([])
    await page.keyboard.press('Tab')
    await page.keyboard.type('rk_wrong')
    await page.keyboard.press('Enter')
    await page.getByText('The gateway does not know this key.').waitFor()
    await page.getByLabel('Key of an agent or an operator').focus()
    await page.keyboard.type(donna.key)
    await page.keyboard.press('Enter')
    await page.getByText('Nothing waits for you.').waitFor()
    for (let n = 0; n < 4; n++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: '@lola' }).waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    await page.evaluate(`location.hash = '#/agents/%40lola'`)
    await page.getByText('Not yours to see.').first().waitFor()
    expect(await page.getByText('a secret').count()).toBe(0)

    // Another tab has the key too, until one of them signs out. The address and the storage that stays never have it.
    const other = await page.context().newPage()
    await other.goto(`${gateway.url}/#/agents`)
    await other.getByRole('row', { name: '@donna' }).waitFor()
    expect(await other.evaluate('[localStorage.length, document.cookie, location.href].join()')).not.toContain('rk_')
    await other.evaluate(`location.hash = '#/you'`)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    // The page took no mail of the agent's harness.
    const { body } = await gateway.call('GET', '/v1/inbox?unread=true', undefined, lola)
    expect(body.messages).toHaveLength(1)
    expect(faults).toEqual([])
  })

  test('who operates several projects chooses one, and sees nothing of the others there', async () => {
    await using gateway = await startGateway()
    await gateway.addAgent('donna')
    await gateway.call('POST', '/v1/projects', { project: 'web' })
    await gateway.call('POST', '/v1/agents', { handle: 'zoe', project: 'web' })
    const { page, faults } = await openPage(gateway, gateway.adminKey)
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('row', { name: '@donna' }).waitFor()
    await page.evaluate(`location.hash = '#/you'`)
    await page.getByLabel('Project').selectOption('web')
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('row', { name: '@zoe' }).waitFor()
    expect(await page.getByRole('row', { name: '@donna' }).count()).toBe(0)
    expect(await violationsIn(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('whose key is revoked is signed out', async () => {
    await using gateway = await startGateway()
    const { body } = await gateway.call('POST', '/v1/operator-keys', { role: 'viewer' })
    const { page } = await openPage(gateway, body.operatorKey)
    await page.getByText('Nothing waits for you.').waitFor()
    await gateway.call('DELETE', `/v1/operator-keys/${body.keyId}`)
    // Nobody touches the page: the end of its stream is enough.
    await page.getByRole('alert').getByText('This key is not valid any more.').waitFor({ timeout: 6_000 })
  })
})
