import { layerNames, layerOf } from './layers.mjs'
import { number, table } from './table.mjs'

/** A room with less than this share of every column is one of the others. */
const shareMin = 0.01

/**
 * Two tables of CPU time, by layer in the order of the way in, and by room with the largest first. `groups` has the runs of each column by
 * its title. Only runs with `costs` (`roomCosts`) count, with their mean; without any there are no tables.
 */
export function costTables(groups, unit) {
  const columns = Object.entries(groups)
    .map(([title, runs]) => ({ title, costs: meanCosts(runs.map((run) => run.costs).filter(Boolean)) }))
    .filter(({ costs }) => costs.size > 0)
  if (columns.length === 0) return []
  const isLarge = (room) => columns.some(({ costs }) => costs.get(room) >= shareMin * sum([...costs.values()]))
  const rooms = new Set(columns.flatMap(({ costs }) => [...costs.keys()]))
  const total = (room) => sum(columns.map(({ costs }) => costs.get(room) ?? 0))
  const large = [...rooms].filter(isLarge).sort((a, b) => total(b) - total(a))
  return [
    costTable(`layer, µs of CPU per ${unit}`, columns, layerNames, layerOf),
    costTable(`part, µs of CPU per ${unit}`, columns, [...large, 'others'], (room) =>
      isLarge(room) ? room : 'others',
    ),
  ]
}

function costTable(name, columns, keys, keyOf) {
  const costOf = ({ costs }, key) => sum([...costs].map(([room, cost]) => (keyOf(room) === key ? cost : 0)))
  const rows = keys
    .filter((key) => columns.some((column) => costOf(column, key) > 0))
    .map((key) => [key, ...columns.map((column) => number(costOf(column, key), 1))])
  const together = columns.map(({ costs }) => number(sum([...costs.values()]), 1))
  return table([name, ...columns.map(({ title }) => title)], [...rows, ['together', ...together]])
}

function meanCosts(runs) {
  const costs = new Map()
  for (const [room, cost] of runs.flat()) costs.set(room, (costs.get(room) ?? 0) + cost / runs.length)
  return costs
}

const sum = (values) => values.reduce((total, value) => total + value, 0)
