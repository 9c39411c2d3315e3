-- Adds the words of new passages of one scope to its counts: `passages` yields those created since the last count.
WITH passages AS MATERIALIZED ({rows}),
scopes AS (
  UPDATE retrieval_scopestatistics AS stored
  SET rows = stored.rows + new.rows, public_rows = stored.public_rows + new.public_rows,
    words = stored.words + new.words, public_words = stored.public_words + new.public_words,
    languages = ARRAY(SELECT DISTINCT unnest(stored.languages || new.languages) ORDER BY 1),
    edited_rows = stored.edited_rows + %(edited_rows)s, refreshed_at = %(until)s
  FROM (
    SELECT count(*) AS rows, count(*) FILTER (WHERE counted_public) AS public_rows,
      coalesce(sum(word_count), 0) AS words, coalesce(sum(word_count) FILTER (WHERE counted_public), 0) AS public_words,
      coalesce(array_agg(DISTINCT language), '{{}}') AS languages
    FROM passages
  ) AS new
  WHERE stored.domain = %(domain)s AND stored.scope = %(scope)s
)
INSERT INTO retrieval_wordstatistics AS stored (domain, scope, word, rows, public_rows)
SELECT %(domain)s, %(scope)s, word, count(*), count(*) FILTER (WHERE counted_public)
FROM passages, unnest(tsvector_to_array(search_vector)) AS word
GROUP BY word
ON CONFLICT (domain, scope, word) DO UPDATE
SET rows = stored.rows + excluded.rows, public_rows = stored.public_rows + excluded.public_rows
