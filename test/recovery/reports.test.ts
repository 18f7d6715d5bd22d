import { describe, expect, test } from 'vitest'
import { minute } from './facts.ts'
import { Simulation } from './simulation.ts'

const hour = 60 * minute

/** An agent that has worked, and whose bridge can start its harness anew. */
function working(): Simulation {
  const world = new Simulation()
  world.bridge()
  world.start()
  world.act()
  world.pass(5 * minute)
  world.act()
  return world
}

/** The same, gone with mail that waits. */
function goneWithMail(): Simulation {
  const world = working()
  world.end('ended')
  world.mail()
  return world
}

/** Each report: what happened to others, and what is done here. `acts`: all that the checker has done. */
const reports: readonly (readonly [string, (world: Simulation) => void, string, (() => Simulation)?])[] = [
  // S3-1, S3-2: nine spawns in eighty minutes, none of which booted.
  [
    'nobody boots: one restart, and no more for the same mail',
    (w) => w.pass(81 * minute),
    'restart abandoned',
    goneWithMail,
  ],
  [
    'a boot that takes ten minutes begins no second one',
    (w) => {
      w.pass(12 * minute)
      w.start()
      w.pass(10 * minute)
      w.read()
      w.pass(30 * minute)
    },
    'restart cleared',
    goneWithMail,
  ],
  [
    'a session whose id survived a reconnect is no new one',
    (w) => {
      w.mail()
      w.pass(11 * minute)
      w.read()
      w.pass(hour)
    },
    'nudge cleared',
  ],
  // D52, N1, R22, R30: a text became the answer to a question.
  [
    'a dialog is open: nothing is sent into it, and others are told once',
    (w) => {
      w.mail()
      w.stay('waitingOnApproval', 3 * hour)
    },
    'deferred',
  ],
  [
    'the approval was given: it goes on, and is left alone',
    (w) => {
      w.mail()
      w.stay('waitingOnApproval', 8 * minute)
      w.read()
      w.pass(hour)
    },
    '',
  ],
  // N2: wakes into huge conversations.
  [
    'a conversation above the bound is not nudged',
    (w) => {
      w.gate = { ...w.gate, settings: { ...w.gate.settings, maxContextTokens: 500_000 } }
      w.session = { ...w.session!, contextTokens: 700_000 }
      w.mail()
      w.pass(3 * hour)
    },
    '',
  ],
  [
    'after a compaction it is',
    (w) => {
      w.gate = { ...w.gate, settings: { ...w.gate.settings, maxContextTokens: 500_000 } }
      w.session = { ...w.session!, contextTokens: 700_000 }
      w.mail()
      w.pass(hour)
      w.session = { ...w.session!, contextTokens: 40_000 }
      w.pass(minute)
      w.read()
      w.pass(minute)
    },
    'nudge cleared',
  ],
  // N3, R14, R15, R16: a usage limit.
  [
    'at its usage limit it is left alone until the reset',
    (w) => {
      w.park(2 * hour)
      w.mail()
      w.pass(2 * hour - minute)
      expect(w.did).toEqual([])
      w.pass(5 * minute)
    },
    'nudge',
  ],
  [
    'a gateway that begins anew respects the park',
    (w) => {
      w.park(2 * hour)
      w.mail()
      w.pass(hour)
      w.gatewayRestarts()
      w.pass(hour - minute)
    },
    '',
  ],
  [
    'an exit at the limit is no reason to start it into the same limit',
    (w) => {
      w.park(2 * hour)
      w.pass(hour)
    },
    '',
    goneWithMail,
  ],
  [
    'a spend cap stays until a person acts',
    (w) => {
      w.park(hour, true)
      w.mail()
      w.pass(24 * hour)
    },
    '',
  ],
  // N5, N12, R21: replayed and unfounded nudges.
  [
    'mail that was read is no reason',
    (w) => {
      w.mail()
      w.pass(5 * minute)
      w.read()
      w.pass(5 * hour)
    },
    '',
  ],
  ['an idle agent without work is never nudged', (w) => w.stay('idle', 5 * hour), ''],
  [
    'one nudge for one reason, however long it is silent',
    (w) => {
      w.mail()
      w.pass(10 * hour)
    },
    'nudge abandoned',
  ],
  [
    'a new message after a sign of life is a new reason',
    (w) => {
      w.mail()
      w.pass(30 * minute)
      w.act()
      w.mail(2)
      w.pass(30 * minute)
    },
    'nudge abandoned nudge abandoned',
  ],
  [
    'a peer buys no acts: without a sign of life another message changes nothing',
    (w) => {
      for (let n = 1; n <= 40; n++) {
        w.mail(n)
        w.pass(15 * minute)
      }
      expect(w.gate).toMatchObject({ nudges: 'enabled', restarts: 'enabled' })
    },
    'nudge abandoned',
  ],
  [
    'a peer buys no starts either',
    (w) => {
      for (let n = 1; n <= 40; n++) {
        w.mail(n)
        w.pass(5 * minute)
      }
    },
    'restart abandoned',
    goneWithMail,
  ],
  [
    'a wake that has just arrived is waited for: new mail is no nudge half a minute later',
    (w) => {
      w.mail()
      w.pass(11 * minute)
      w.pass(20 * minute)
      w.act()
      w.pass(11 * minute)
      w.mail(2)
      w.pass(9 * minute)
      expect(w.did).toEqual(['nudge', 'abandoned'])
      w.pass(2 * minute)
    },
    'nudge abandoned nudge',
  ],
  // N6, N7: no route.
  [
    'without a proven route a pulse is written once',
    (w) => {
      w.route = null
      w.mail()
      w.pass(5 * hour)
    },
    'pulse',
  ],
  // N9, R12: the bridge, or the gateway, is the one in trouble.
  [
    'a bridge that is away is no dead harness',
    (w) => {
      w.bridgeAway()
      w.pass(5 * hour)
    },
    '',
    goneWithMail,
  ],
  [
    'a gateway that has just come back waits for signs of life',
    (w) => {
      w.mail()
      w.pass(9 * minute)
      w.gatewayRestarts()
      w.now += hour
      w.look()
      w.act()
      w.pass(5 * minute)
    },
    '',
  ],
  // N10, N11, R17: the gate.
  [
    'what trips stays shut, whatever comes',
    (w) => {
      for (let n = 1; n <= 12; n++) {
        w.act()
        w.mail(n)
        w.pass(30 * minute)
      }
    },
    'nudge abandoned nudge abandoned nudge abandoned trip',
  ],
  [
    'a closed gate starts nothing',
    (w) => {
      w.gate = { ...w.gate, restarts: 'disabled' }
      w.pass(5 * hour)
    },
    '',
    goneWithMail,
  ],
  // N14, R5, R6, R7: it is alive.
  [
    'a conversation that its bridge sees is not started again',
    (w) => {
      w.end('timeout')
      w.recovery = { ...w.recovery, bridge: { ...w.recovery.bridge!, seen: true } }
      w.mail()
      w.pass(5 * hour)
    },
    '',
  ],
  [
    'a process that is still shutting down is not started again',
    (w) => {
      w.end('ended')
      w.recovery = { ...w.recovery, bridge: { ...w.recovery.bridge!, process: { pid: 1, startedAt: '' } } }
      w.mail()
      w.pass(20 * minute)
      expect(w.did).toEqual([])
      w.recovery = { ...w.recovery, bridge: { ...w.recovery.bridge!, process: undefined } }
      w.pass(2 * minute)
      w.start()
      w.read()
      w.pass(minute)
    },
    'restart cleared',
  ],
  // N15: a person's own close.
  [
    'a person closed it: it stays closed',
    (w) => {
      w.end('closed')
      w.mail()
      w.pass(10 * hour)
    },
    '',
  ],
  // N16, R19: what it remembers.
  [
    'a gateway that begins anew remembers the act in flight',
    (w) => {
      w.mail()
      w.pass(11 * minute)
      w.gatewayRestarts()
      w.pass(10 * minute)
    },
    'nudge',
  ],
  [
    'and the crash counter',
    (w) => {
      for (let n = 1; n <= 6; n++) {
        w.act()
        w.mail(n)
        w.pass(30 * minute)
        w.gatewayRestarts()
      }
    },
    'nudge abandoned nudge abandoned nudge abandoned trip',
  ],
  // R1, R2, R3, R4, R9: two of one.
  [
    'it exits again and again: three restarts, then the gate trips',
    (w) => {
      for (let n = 0; n < 8; n++) {
        w.pass(4 * minute)
        if (w.inFlight > 0) {
          w.start()
          w.act()
          w.pass(minute)
          w.end('ended')
        }
      }
    },
    'restart cleared restart cleared restart cleared trip',
    goneWithMail,
  ],
  [
    'it does its work each time and ends: three restarts an hour, and no gate trips',
    (w) => {
      for (let n = 0; n < 8; n++) {
        w.mail(n)
        w.pass(12 * minute)
        if (w.inFlight > 0) w.runOnce()
      }
      expect(w.gate.restarts).toBe('enabled')
    },
    'restart cleared restart cleared restart cleared restart cleared restart cleared restart',
    goneWithMail,
  ],
  [
    'it works and ends between two looks: the restart has led to something',
    (w) => {
      w.pass(13 * minute)
      w.runOnce()
      w.pass(hour)
    },
    'restart cleared',
    goneWithMail,
  ],
  [
    'the gateway restarts while the harness boots: the restart has led to something',
    (w) => {
      w.pass(13 * minute)
      expect(w.did).toEqual(['restart'])
      w.now += 5_000
      w.start()
      w.gatewayRestarts()
      w.pass(minute)
      w.read()
      w.pass(hour)
    },
    'restart cleared',
    goneWithMail,
  ],
  [
    'a nudged session ends: the nudge is over, and its restart waits for nothing more',
    (w) => {
      w.mail()
      w.pass(11 * minute)
      w.end('ended')
      w.pass(4 * minute)
    },
    'nudge over restart',
  ],
  [
    'it was killed, and nobody said so: its session times out, and it is started again',
    (w) => {
      w.kill()
      w.mail()
      w.pass(13 * minute)
    },
    'restart',
  ],
  // R8: a message never starts a process while its session lives.
  [
    'mail to a live session starts no other',
    (w) => {
      for (let n = 1; n <= 5; n++) {
        w.mail(n)
        w.pass(2 * minute)
        w.act()
      }
    },
    '',
  ],
  // R11: evidence from before the act.
  [
    'a heartbeat from before the restart says nothing about it',
    (w) => {
      w.pass(13 * minute)
      expect(w.did).toEqual(['restart'])
      w.pass(5 * minute)
      expect(w.did).toEqual(['restart'])
    },
    'restart',
    goneWithMail,
  ],
  // R13: `starting` is a state.
  [
    'a session that has just started is not idle',
    (w) => {
      w.mail()
      w.pass(15 * minute)
      expect(w.did).toEqual(['nudge'])
      w.start()
      w.pass(5 * minute)
    },
    'nudge over',
  ],
  // R18: a paid nudge every five minutes.
  [
    'a night of silence costs one nudge',
    (w) => {
      w.mail()
      w.pass(12 * hour)
    },
    'nudge abandoned',
  ],
  // R20: a machine that booted at night.
  [
    'after a reboot it asks: what has nothing to do is not started',
    (w) => {
      w.end('timeout')
      w.pass(8 * hour)
    },
    '',
  ],
  // R23, R24, R25: turns.
  [
    'a tool that runs for an hour is no silence',
    (w) => {
      w.mail()
      w.stay('active', hour)
      w.read()
      w.pass(minute)
    },
    '',
  ],
  [
    'the end of a turn is life',
    (w) => {
      w.mail()
      w.stay('active', 20 * minute)
      w.report('idle')
      w.pass(5 * minute)
    },
    '',
  ],
  [
    'a turn with an id is open until its end is reported',
    (w) => {
      w.mail()
      w.report('active', 'turn_1')
      w.pass(50 * minute)
      w.report('idle')
      w.pass(minute)
    },
    '',
  ],
  [
    'after an hour a turn whose end nobody reports is asked about',
    (w) => {
      w.mail()
      w.report('active', 'turn_1')
      w.pass(62 * minute)
    },
    'nudge',
  ],
  [
    'a session that fell silent with a question still waits for its person',
    (w) => {
      w.report('waitingOnApproval')
      w.kill()
      w.mail()
      w.pass(9 * minute)
    },
    '',
  ],
  // R26: a laptop's lid.
  [
    'eight hours of sleep are not charged to the agent',
    (w) => {
      w.mail()
      w.pass(minute)
      w.sleep(8 * hour)
      w.pass(minute)
      expect(w.did).toEqual([])
      w.read()
      w.pass(hour)
    },
    '',
  ],
  // R27: state comes from hooks, and an old report is unknown.
  [
    'a report that is an hour old says nothing: a nudge asks',
    (w) => {
      w.report('active')
      w.mail()
      w.pass(15 * minute)
    },
    'nudge',
  ],
  // R28, R29: a draft.
  [
    'a half-typed line is left alone',
    (w) => {
      w.mail()
      w.stay('userTyping', 2 * hour)
    },
    '',
  ],
  // R31, R32, R33: what was delivered and not done.
  [
    'mail that was shown and not read is nudged once',
    (w) => {
      w.mail()
      w.stay('idle', 3 * hour)
    },
    'nudge abandoned',
  ],
  [
    'mail to an agent that was idle before is seen too',
    (w) => {
      w.stay('idle', hour)
      w.mail()
      w.stay('idle', 15 * minute)
    },
    'nudge',
  ],
  // R34: a nudge that was booked and dropped.
  [
    'an act that nobody answers is abandoned, and counts',
    (w) => {
      w.mail()
      w.pass(40 * minute)
      expect(w.recovery.abandoned).toBe(1)
    },
    'nudge abandoned',
  ],
]

describe('reports of others', () => {
  // S3-1…S3-5, S3-9, S3-10, S3-12
  for (const [name, play, expected, begin = working] of reports) {
    test(name, () => {
      const world = begin()
      play(world)
      expect(world.did.join(' ')).toBe(expected)
      expect(world.inFlightMax).toBeLessThanOrEqual(1)
    })
  }
})
