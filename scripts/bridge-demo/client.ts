// The A2A client: the official SDK, in a process of its own. It sends one task on command, and prints what became of it.
import { once } from 'node:events'
import { connectPeer } from '../../src/cli/operator/demo/peer.ts'
import { Story } from '../../src/cli/operator/demo/story.ts'

const [address = '', text = ''] = process.argv.slice(2)
const said: string[] = []
const peer = await connectPeer(address, process.env.ROUSE_DEMO_KEY ?? '', new Story((line) => void said.push(line)))
console.log(JSON.stringify({ ready: true }))
await once(process.stdin, 'data')
const { sentAt, answeredAt } = await peer.ask(text)
console.log(JSON.stringify({ answered: true, sentAt, answeredAt, said: said.at(-1)?.trim() }))
process.exit(0)
