// Compiled by generated-client.test.ts against the types that openapi-typescript makes of openapi.json, and run against a gateway.
import createClient from 'openapi-fetch'
import type { paths } from './api.d.ts'

export async function sendMail(baseUrl: string, key: string): Promise<string> {
  const { data, response } = await clientOf(baseUrl, key).POST('/v1/messages', {
    params: { header: { 'Idempotency-Key': 'letter-1' } },
    body: { to: '@donna', subject: 'Hello', priority: 'high' },
  })
  if (!data) throw new Error(`Refused: ${response.status}`)
  const [recipient] = data.recipients
  return `${recipient?.agent}: ${recipient?.status satisfies 'sent' | 'seen' | 'acked' | 'resolved' | 'superseded' | undefined}`
}

/** Returns the unread mail, and how far a task has come. */
export async function work(baseUrl: string, key: string): Promise<string[]> {
  const client = clientOf(baseUrl, key)
  const { data } = await client.GET('/v1/tasks', {
    params: { query: { role: 'assignee', state: 'submitted', pageSize: 5 } },
  })
  const [task] = data?.tasks ?? []
  if (!task) throw new Error('No task.')
  const move = (to: 'working' | 'completed') =>
    client.POST('/v1/tasks/{id}/transitions', {
      params: { path: { id: task.id }, header: { 'If-Match': `"${task.version}"` } },
      body: { to, message: 'On it' },
    })
  const moved = await move('working')
  const late = await move('completed')
  const { code } = late.error ?? {}
  if (code !== 'version-conflict') throw new Error(`Not refused: ${code}`)
  const inbox = await client.GET('/v1/inbox', { params: { query: { unread: true } } })
  const mail = inbox.data?.messages.map(({ subject }) => subject) ?? []
  return [...mail, moved.data?.state ?? '', code]
}

/** The types refuse what the gateway would refuse. */
export async function mistakes(baseUrl: string, key: string): Promise<void> {
  const client = clientOf(baseUrl, key)
  // @ts-expect-error: no such route
  await client.GET('/v1/nothing')
  // @ts-expect-error: no such state
  await client.POST('/v1/tasks/{id}/transitions', { params: { path: { id: '1' } }, body: { to: 'done' } })
}

function clientOf(baseUrl: string, key: string) {
  return createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } })
}
