import { setPriority } from 'node:os'
import type { Target } from './attacker-calls.ts'
import { type AttackName, attacks } from './attacks.ts'

/** An attacker in a process of its own: what it costs itself must not be counted as the gateway's. */
// On a network it has a machine of its own; here it takes what those who measure leave.
setPriority(19)
const { attack, target } = JSON.parse(process.argv[2]!) as { attack: AttackName; target: Target }
const over = new AbortController()
process.on('SIGTERM', () => over.abort())
// Whatever befalls an attacker is its own affair.
process.on('uncaughtException', () => {})
setTimeout(() => process.exit(1), 300_000).unref()
over.signal.addEventListener('abort', () => setTimeout(() => process.exit(0), 500))
await attacks[attack](target, () => console.log('ready'), over.signal)
