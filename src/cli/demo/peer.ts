import { Role, type Task, TaskState } from '@a2a-js/sdk'
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client'
import { instant, type Story } from './story.ts'

/** A peer, like any A2A client: it reads the card, sends a message and waits for the task. */
export async function sendOverA2a(
  address: string,
  key: string,
  text: string,
  story: Story,
): Promise<{ sentAt: number; answeredAt: number }> {
  const authenticated: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${key}`)
    return fetch(input, { ...init, headers })
  }
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl: authenticated })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl: authenticated }),
    }),
  )
  const client = await factory.createFromUrl(address)
  const card = await client.getAgentCard()
  story.tell('peer', `read the card of ${card.name} at ${address}: skill "${card.skills[0]?.name}"`)

  const sentAt = instant()
  story.startClock(sentAt)
  story.tell('peer', `sends over A2A: "${text}"`, sentAt)
  const answer = await client.sendMessage({
    tenant: '',
    message: {
      messageId: crypto.randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: undefined,
    metadata: undefined,
  })
  const answeredAt = instant()
  const task = answer as Task
  const artifact = task.artifacts[0]?.parts[0]?.content
  story.tell(
    'peer',
    `got ${TaskState[task.status?.state ?? 0]}: "${artifact?.$case === 'text' ? artifact.value : ''}"`,
    answeredAt,
  )
  return { sentAt, answeredAt }
}
