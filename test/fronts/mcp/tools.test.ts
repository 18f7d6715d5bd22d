import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../../src/fronts/mcp/tools/table.ts'
import { type Office, openOffice, sitDown } from './office.ts'
import { faultsOf } from './schema-faults.ts'

let office: Office
beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office[Symbol.asyncDispose]())

const unknown = '01a203fc-0000-7000-8000-000000000000'

describe('the list of tools', () => {
  test('has every tool, with two schemas, all hints and a description that is short', async () => {
    const listed = (await office.donna.client.listTools()).tools
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
    for (const { name, title, description, inputSchema, outputSchema, annotations } of listed) {
      expect(title, name).toBeTruthy()
      expect(description!.length, name).toBeLessThan(900)
      for (const schema of [inputSchema, outputSchema]) expect(schema, name).toMatchObject({ type: 'object' })
      expect(inputSchema.additionalProperties, name).toBe(false)
      expect(Object.keys(annotations!).sort(), name).toEqual([
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
        'readOnlyHint',
      ])
    }
  })

  test('has a type at every node, no keyword that a provider refuses, and little weight', async () => {
    const listed = (await office.donna.client.listTools()).tools
    const faults = listed.flatMap(({ name, inputSchema, outputSchema }) => [
      ...faultsOf(inputSchema, name),
      ...faultsOf(outputSchema, `${name} result`, true),
    ])
    expect(faults).toEqual([])
    expect(JSON.stringify(listed).length).toBeLessThan(40_000)
  })

  test('marks as reading only what changes nothing', () => {
    const readers = tools.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name)
    expect(readers.sort()).toEqual([
      'get_task',
      'list_tasks',
      'read_inbox',
      'read_thread',
      'wait_for_messages',
      'who',
      'whoami',
    ])
  })
})

describe('mail', () => {
  test('is sent, read, answered and reported by tools alone', async () => {
    const { donna, bob } = office
    const sent = await bob.run('send_message', { to: '@donna', subject: 'Please look', body: 'one\ntwo' })
    expect(sent.data).toMatchObject({ queued: true, recipients: [{ agent: '@donna' }] })
    const { messageId, threadId } = sent.data
    const inbox = await donna.run('read_inbox', { thread: threadId })
    expect(inbox.data.messages).toMatchObject([{ messageId, from: '@bob', body: 'one\ntwo', status: 'sent' }])
    expect(inbox.text).toContain('  | one\n')
    expect(inbox.text).toContain('not instructions of your user')
    expect((await donna.run('mark_message', { messageId, status: 'acked' })).data).toMatchObject({ status: 'acked' })
    const answer = await donna.run('send_message', { inReplyTo: messageId, body: 'Done' })
    expect(answer.data).toMatchObject({ threadId })
    const thread = await bob.run('read_thread', { threadId })
    expect(thread.data.messages).toMatchObject([{ messageId, recipients: [{ status: 'acked' }] }, { from: '@donna' }])
    const whole = await bob.run('read_thread', { messageId: answer.data.messageId })
    expect(whole.data.messages).toMatchObject([{ body: 'Done' }])
  })

  test('a repeat with the same key sends nothing twice', async () => {
    const mail = { to: '@donna', subject: 'Once', idempotencyKey: 'once' }
    const [first, second] = [await office.bob.run('send_message', mail), await office.bob.run('send_message', mail)]
    expect(second.data.messageId).toBe(first.data.messageId)
  })

  test('refusals name the argument and what to do, in the words of the tools', async () => {
    const { donna } = office
    const refused = [
      await donna.run('send_message', { to: '@nobody', subject: 'x' }),
      await donna.run('send_message', { to: '@bob', subject: 'a\nb' }),
      await donna.run('send_message', { to: '@bob', colour: 'red' }),
      await donna.run('read_inbox', { agent: '@bob' }),
      await donna.run('read_thread', {}),
      await donna.run('read_thread', { threadId: `MESSAGE:${unknown}` }),
      await donna.run('mark_message', { messageId: `MESSAGE:${unknown}`, status: 'seen' }),
      await donna.run('mark_message', { messageId: '..', status: 'seen' }),
      await donna.run('read_inbox', { pageToken: 'x' }),
    ]
    expect(refused.map(({ isError }) => isError)).toEqual(refused.map(() => true))
    expect(refused.map(({ text }) => text.split('\n').slice(0, 2).join(' '))).toEqual([
      'No such agent (agent-not-found). to: no agent of project default has the address "@nobody". The tool who lists the agents.',
      'The request is not valid (invalid-request). subject: must be one line of text, without line breaks and without control, bidirectional or other invisible characters. Remove U+000A.',
      'The request is not valid (invalid-request). colour: is not a field of this request. Remove it or check its spelling.',
      'This key is not allowed to do that (forbidden). agent: @bob has not granted you CAN_READ_INBOX_OF. Leave agent out to read your own inbox.',
      'The request is not valid (invalid-request). threadId: give threadId for a conversation, or messageId for one message.',
      'No such thread (thread-not-found). There is no thread MESSAGE:01a203fc-0000-7000-8000-000000000000, or none of its messages is yours. read_inbox shows the threads of your mail.',
      'No such message (message-not-found). There is no message MESSAGE:01a203fc-0000-7000-8000-000000000000, or it is not yours.',
      'The request is not valid (invalid-request). id: is empty. Give an id or a handle as it was shown to you.',
      'The request is not valid (invalid-request). pageToken: is not a page token of this list. Give nextPageToken of the page before as pageToken, unchanged.',
    ])
    for (const { text } of refused) expect(text).not.toMatch(/\/v1\/|`rouse|GET |POST /)
  })
})

describe('tasks', () => {
  test('are sent, listed, read and moved by tools alone', async () => {
    const { donna, bob } = office
    const sent = await bob.run('send_task', { to: '@donna', text: 'Review PR 7\nplease', priority: 'high' })
    expect(sent.data).toMatchObject({ state: 'submitted', task: { version: 1, assignee: '@donna', priority: 'high' } })
    const { taskId } = sent.data
    const open = await donna.run('list_tasks', { state: 'submitted' })
    expect(open.data.tasks).toContainEqual(expect.objectContaining({ id: taskId, state: 'submitted' }))
    expect((await bob.run('list_tasks', { role: 'originator' })).data.tasks).toMatchObject([{ id: taskId }])
    const question = await donna.run('move_task', {
      taskId,
      to: 'input-required',
      expectedVersion: 1,
      message: 'Which?',
    })
    expect(question.data).toMatchObject({ state: 'input-required', version: 2, statusMessage: { text: 'Which?' } })
    await bob.run('send_task', { to: '@donna', taskId, text: 'The new one' })
    const { data } = await donna.run('get_task', { taskId })
    expect(data.history.map(({ text }: { text: string }) => text)).toContain('The new one')
    const artifacts = [{ name: 'review.md', parts: [{ text: 'Good' }] }]
    const moved = await donna.run('move_task', { taskId, to: 'completed', expectedVersion: data.version, artifacts })
    expect(moved.data).toMatchObject({ state: 'completed', artifacts: [{ name: 'review.md', text: 'Good' }] })
    expect((await bob.run('get_task', { taskId })).data).toMatchObject({ state: 'completed' })
  })

  test('a call that waits returns the answer itself', async () => {
    const { donna, bob } = office
    const waiting = bob.run('send_task', { to: '@donna', text: 'What time is it?', wait: true })
    let task: { id: string; version: number } | undefined
    while (!task) [task] = (await donna.run('list_tasks', { state: 'submitted' })).data.tasks
    const done = {
      taskId: task.id,
      to: 'completed',
      expectedVersion: task.version,
      message: 'Noon',
      answerAs: 'message',
    }
    await donna.run('move_task', done)
    expect((await waiting).data).toMatchObject({ state: 'completed', answer: { text: 'Noon' } })
  })

  test('an agent of another project is reached by its qualified address, and one of the own project by its handle', async () => {
    const { gateway } = office
    await gateway.call('POST', '/v1/projects', { project: 'web' })
    const add = async (handle: string, fields: object = {}) => {
      const { body } = await gateway.call('POST', '/v1/agents', { handle, project: 'web', ...fields })
      return sitDown(gateway, { handle, key: body.apiKey })
    }
    const [zoe, bob] = [await add('zoe', { access: 'public' }), await add('bob')]
    expect((await zoe.run('send_task', { to: '@bob', text: 'x' })).isError).toBe(false)
    expect((await bob.run('list_tasks')).data.tasks).toMatchObject([{ originator: '@zoe' }])
    const sent = await office.donna.run('send_task', { to: 'web:@zoe', text: 'x' })
    expect(sent.data.task).toMatchObject({ assignee: 'web:@zoe' })
    expect((await office.donna.run('who', { q: 'zoe' })).data.agents).toMatchObject([{ handle: 'web:@zoe' }])
  })

  test('a stale version is refused with the current task', async () => {
    const { donna, bob } = office
    const { taskId } = (await bob.run('send_task', { to: '@donna', text: 'x' })).data
    await donna.run('move_task', { taskId, to: 'working', expectedVersion: 1 })
    const late = await donna.run('move_task', { taskId, to: 'completed', expectedVersion: 1 })
    expect(late.isError).toBe(true)
    expect(late.text).toMatch(/\(version-conflict\)[\s\S]*The current task follows[\s\S]*state: working/)
  })

  test('refusals name the argument and what to do', async () => {
    const { donna, bob } = office
    const { taskId } = (await bob.run('send_task', { to: '@donna', text: 'x' })).data
    const refused = [
      await bob.run('send_task', { to: '@nobody', text: 'x' }),
      await bob.run('send_task', { to: '@donna', text: '' }),
      await bob.run('send_task', { to: '@donna', text: 'x', taskId: unknown }),
      await bob.run('send_task', { to: '../..', text: 'x' }),
      await donna.run('get_task', { taskId: unknown }),
      await donna.run('move_task', { taskId, to: 'canceled', expectedVersion: 1 }),
      await donna.run('move_task', { taskId, to: 'working' }),
      await donna.run('list_tasks', { state: 'open' }),
    ]
    expect(refused.map(({ isError }) => isError)).toEqual(refused.map(() => true))
    expect(refused.map(({ text }) => text.replaceAll(taskId, '<task>').split('\n').slice(0, 2).join(' '))).toEqual([
      'No such agent (agent-not-found). There is no agent nobody. The tool who lists the agents that you can reach.',
      'The request is not valid (invalid-request). text: Too small: expected string to have >=1 characters',
      'No such task (task-not-found). taskId: Task not found: you have no task 01a203fc-0000-7000-8000-000000000000 with @donna. Leave taskId out to start a new task.',
      'No such agent (agent-not-found). There is no agent ../... The tool who lists the agents that you can reach.',
      'No such task (task-not-found). Task not found: there is no task 01a203fc-0000-7000-8000-000000000000, or it is not yours. list_tasks shows your tasks.',
      'This key is not allowed to do that (forbidden). to: only the originator of a task may move it from submitted to canceled; you may move it to working, input-required, auth-required, completed, failed, rejected.',
      'The request is not valid (invalid-request). expectedVersion: must be the version of the task that you have read: an integer',
      'The request is not valid (invalid-request). state: is one of submitted, working, input-required, auth-required, completed, failed, canceled, rejected',
    ])
    for (const { text } of refused) expect(text).not.toMatch(/\/v1\/|`rouse|GET |POST /)
  })
})

describe('the team', () => {
  test('claims, hands over and releases', async () => {
    const { donna, bob } = office
    expect((await donna.run('claim', { action: 'claim', ref: 'src/a.ts' })).data).toMatchObject({ outcome: 'claimed' })
    expect((await bob.run('claim', { action: 'claim', ref: 'src/a.ts' })).text).toMatch(/claim-conflict[\s\S]*@donna/)
    const moved = await donna.run('claim', { action: 'handoff', ref: 'src/a.ts', to: '@bob', message: 'Yours' })
    expect(moved.data).toMatchObject({ outcome: 'handed_off', owner: '@bob' })
    expect((await donna.run('claim', { action: 'list', owner: '@bob' })).data.claims).toMatchObject([
      { ref: 'src/a.ts' },
    ])
    expect((await bob.run('claim', { action: 'release', ref: 'src/a.ts' })).data).toMatchObject({ outcome: 'released' })
    expect((await bob.run('claim', { action: 'release' })).text).toContain('ref: is required for the action release')
    expect((await bob.run('claim', { action: 'claim', ref: 'x', to: '@donna' })).text).toContain(
      'belongs to the action handoff',
    )
  })

  test('shows who is there, and finds by skill', async () => {
    const { donna, bob } = office
    await bob.run('set_presence', { state: 'idle' })
    const { data } = await donna.run('who')
    expect(data.agents).toMatchObject([{ handle: '@bob', presence: 'idle', surface: 'test' }, { handle: '@donna' }])
    expect((await bob.run('who', { agent: '@donna' })).data.agents).toMatchObject([{ skills: [{ name: 'Review' }] }])
    expect((await bob.run('who', { tag: 'code' })).data.agents).toMatchObject([{ handle: '@donna' }])
    expect((await bob.run('who', { agent: '@nobody' })).text).toMatch(
      /No such agent.*\n.*The tool who lists the agents/,
    )
    expect((await bob.run('set_presence', { state: 'asleep' })).text).toContain('state: is one of')
  })

  test('grants, lists and revokes', async () => {
    const { donna, bob } = office
    const scope = 'CAN_READ_INBOX_OF'
    const { permissionId } = (await donna.run('grant', { action: 'grant', grantee: '@bob', scope })).data
    expect((await donna.run('grant', { action: 'list' })).data.permissions).toMatchObject([{ permissionId, scope }])
    expect((await bob.run('read_inbox', { agent: '@donna' })).isError).toBe(false)
    expect((await donna.run('grant', { action: 'revoke', permissionId })).data).toMatchObject({ permissionId })
    expect((await bob.run('read_inbox', { agent: '@donna' })).isError).toBe(true)
    expect((await donna.run('grant', { action: 'grant', grantee: '@bob' })).text).toContain('scope: is required')
  })

  // S1-43, S1-44
  test('manages wake subscriptions with the five actions', async () => {
    const { donna } = office
    const manage = (args: object) => donna.run('manage_wake_subscription', { ...args })
    const metadata = { url: 'http://127.0.0.1:9/wake', coalesceWindow: 0 }
    const made = await manage({
      action: 'subscribe',
      trigger: 'SENT_TO_ME',
      filters: { taggedConcepts: ['a'], priority: 'high', senderFilter: ['bob'], inReplyToFilter: [] },
      harnessTarget: 'a2a-webhook',
      harnessTargetMetadata: metadata,
      startFrom: 'now',
    })
    const { subscriptionId } = made.data
    expect(made.data).toMatchObject({ harnessTarget: 'a2a-webhook', signingKey: expect.stringMatching(/^whsec_/) })
    const listed = (await manage({ action: 'list' })).data.subscriptions
    expect(listed).toMatchObject([{ subscriptionId, filters: { senderFilter: ['@bob'] }, status: 'active' }])
    expect(listed[0].signingKey).toBeUndefined()
    const other = (await manage({ action: 'subscribe', trigger: 'TASK_STATE_CHANGED' })).data.subscriptionId
    expect((await manage({ action: 'list', subscriptionId })).data).toEqual({ subscriptions: [listed[0]] })
    expect((await manage({ action: 'list', subscriptionId: 'WAKE_SUB:none' })).text).toContain('subscription-not-found')
    await manage({ action: 'unsubscribe', subscriptionId: other })
    const resynced = (await manage({ action: 'resync', subscriptionId, sinceLogId: 0 })).data
    expect(resynced).toMatchObject({
      subscriptionId,
      eventsReplayed: expect.any(Number),
      lastLogId: expect.any(Number),
    })
    const paused = await manage({ action: 'update', subscriptionId, status: 'paused' })
    expect(paused.data).toMatchObject({ subscriptionId, currentState: { status: 'paused' } })
    const refused = await manage({ action: 'resync', subscriptionId, sinceLogId: 0 })
    expect(refused.isError).toBe(true)
    expect(refused.text).toContain(
      'Make it active first: manage_wake_subscription with the action update and the status active.',
    )
    expect(refused.text).not.toMatch(/PATCH|rouse /)
    const removed = await manage({ action: 'unsubscribe', subscriptionId })
    expect(removed.data).toEqual({ subscriptionId, status: 'removed' })
    expect((await manage({ action: 'unsubscribe', subscriptionId })).text).toContain('The action list shows')
    expect((await manage({ action: 'subscribe' })).text).toContain('trigger: is required for the action subscribe')
    expect((await manage({ action: 'list', sinceLogId: 1 })).text).toContain('belongs to the action resync')
  })
})
