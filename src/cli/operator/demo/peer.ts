import { Role, type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk'
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client'
import { instant, type Story } from './story.ts'

/** A peer, like any A2A client: it reads the card, and sends messages. */
export interface Peer {
  /** Sends a message and does not wait for the task. */
  leave(text: string): Promise<void>
  /** Sends a message and waits for the task. Instants are ms since the epoch. */
  ask(text: string): Promise<{ sentAt: number; answeredAt: number }>
}

export async function connectPeer(address: string, key: string, story: Story): Promise<Peer> {
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

  return {
    async leave(text) {
      story.startClock(instant())
      await client.sendMessage(request(text, { returnImmediately: true }))
      story.tell('peer', `left a task over A2A, which nobody is there to take: "${text}"`)
    },
    async ask(text) {
      const sentAt = instant()
      story.startClock(sentAt)
      story.tell('peer', `sends over A2A: "${text}"`, sentAt)
      const task = (await client.sendMessage(request(text))) as Task
      const answeredAt = instant()
      const artifact = task.artifacts[0]?.parts[0]?.content
      const answer = artifact?.$case === 'text' ? artifact.value : ''
      story.tell('peer', `got ${TaskState[task.status?.state ?? 0]}: "${answer}"`, answeredAt)
      return { sentAt, answeredAt }
    },
  }
}

function request(text: string, { returnImmediately = false } = {}): SendMessageRequest {
  return {
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
    configuration: returnImmediately
      ? { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately }
      : undefined,
    metadata: undefined,
  }
}
