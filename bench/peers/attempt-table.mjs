/** The record of an attempt, for the peers that keep none of their own. */
export function createAttempts(pool) {
  return pool.query(
    'create table attempt (id text primary key, at bigint not null, status int not null, duration_ms int not null)',
  )
}

export function keepAttempts(pool, attempts) {
  const column = (name) => attempts.map((attempt) => attempt[name])
  return pool.query({
    name: 'keep-attempts',
    text: `insert into attempt (id, at, status, duration_ms)
      select * from unnest($1::text[], $2::bigint[], $3::int[], $4::int[])`,
    values: [column('id'), column('at'), column('status'), column('durationMs')],
  })
}

export async function countAttempts(pool) {
  return Number((await pool.query('select count(*) as n from attempt')).rows[0].n)
}
