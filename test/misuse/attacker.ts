import { setPriority } from 'node:os'
import { type AttackName, attacks } from './attacks.ts'
import type { Target } from './calls.ts'

/** The program of an attacker. On a network it has a machine of its own; here it takes the time that the others leave. */
setPriority(19)
const { attack, target } = JSON.parse(process.argv[2]!) as { attack: AttackName; target: Target }
process.on('uncaughtException', () => {})
setTimeout(() => process.exit(1), 300_000).unref()
await attacks[attack](target, () => console.log('ready'))
