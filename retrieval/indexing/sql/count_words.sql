-- Counts of words of one domain: `passages` yields them with scope and audience.
WITH passages AS MATERIALIZED ({rows}),
scopes AS (
  INSERT INTO retrieval_scopestatistics (domain, scope, rows, public_rows, words, public_words, languages, refreshed_at, edited_rows)
  SELECT %(domain)s, counted_scope, count(*), count(*) FILTER (WHERE counted_public), sum(word_count),
    coalesce(sum(word_count) FILTER (WHERE counted_public), 0), array_agg(DISTINCT language), now(), 0
  FROM passages GROUP BY counted_scope
)
INSERT INTO retrieval_wordstatistics (domain, scope, word, rows, public_rows)
SELECT %(domain)s, counted_scope, word, count(*), count(*) FILTER (WHERE counted_public)
FROM passages, unnest(tsvector_to_array(search_vector)) AS word
GROUP BY counted_scope, word
HAVING count(*) > 1
