-- The words of the question, how often each occurs, and which of them choose the candidates. Part of search.sql and
-- explain.sql.
languages AS (  -- one language for each text search configuration that the scope holds
  SELECT min(language) AS language
  FROM (
    SELECT unnest(%(languages)s::text[]) AS language
    UNION
    SELECT unnest(languages) FROM retrieval_scopestatistics WHERE domain = %(domain)s AND scope = ANY(%(scopes)s)
  ) AS known
  GROUP BY memory37_configuration(language)
),
question AS (
  SELECT word, max(weight) AS weight, bool_or(is_own) AS is_own
  FROM (
    SELECT unnest(tsvector_to_array(memory37_words(language, %(query)s))) AS word, 1.0::float8 AS weight, true AS is_own
    FROM languages
    UNION ALL
    SELECT unnest(tsvector_to_array(memory37_words(language, expansion.text))), expansion.weight, false
    FROM languages, unnest(%(expansions)s::text[], %(expansion_weights)s::float8[]) AS expansion (text, weight)
  ) AS spoken
  GROUP BY word
),
corpus AS MATERIALIZED (  -- the size of what is counted: for whoever is no game master, the public part alone
  SELECT coalesce(sum(CASE WHEN %(hidden)s THEN rows ELSE public_rows END), 0)::float8 AS rows,
    coalesce(sum(CASE WHEN %(hidden)s THEN words ELSE public_words END)
      / nullif(sum(CASE WHEN %(hidden)s THEN rows ELSE public_rows END), 0), 0)::float8 AS average
  FROM retrieval_scopestatistics WHERE domain = %(domain)s AND scope = ANY(%(scopes)s)
),
-- A word that is not in the statistics is new, or occurs once. The two must count alike: whether a word of one visible
-- passage is in the statistics depends on passages that the asker may not know.
counted AS (
  SELECT word, weight, is_own, coalesce(found.rows > 1, false) AS known, least(greatest(coalesce(found.rows, 1), 1), greatest(corpus.rows, 1)) AS frequency
  FROM question CROSS JOIN corpus LEFT JOIN LATERAL (
    SELECT sum(CASE WHEN %(hidden)s THEN rows ELSE public_rows END)::float8 AS rows
    FROM retrieval_wordstatistics AS counts
    WHERE counts.domain = %(domain)s AND counts.scope = ANY(%(scopes)s) AND counts.word = question.word
  ) AS found ON true
),
weighed AS (
  SELECT word, weight, weight * ln(1 + (greatest(corpus.rows, frequency) - frequency + 0.5) / (frequency + 0.5)) AS idf,
    frequency, known, is_own,
    sum(frequency) OVER by_rarity AS running,
    row_number() OVER by_rarity AS place,
    -- how many passages would hold this word and all rarer ones, if words came independently: of hundreds of rare words
    -- so few that the exponential function would fail
    greatest(corpus.rows, 1) * exp(greatest(sum(ln(frequency / greatest(corpus.rows, 1))) OVER by_rarity, -700)) AS together
  FROM counted CROSS JOIN corpus
  WINDOW by_rarity AS (ORDER BY frequency / weight, word)
),
budget AS (  -- in passages of the whole scope: within a filter a word has fewer
  SELECT %(budget)s * greatest(1, corpus.rows / %(matching)s::float8) AS passages, corpus.rows FROM corpus
),
ranked AS (
  SELECT weighed.*,
    -- to read where a word of every third passage stands takes longer than it saves
    place = 1 OR (lag(together) OVER (ORDER BY place) > budget.passages AND frequency < budget.rows / 3) AS narrows,
    min(frequency) OVER () > %(too_common)s * budget.passages AS too_common,
    -- what has not been counted yet has no rows, and its words a frequency all the same
    budget.rows > 0 AND 2 * %(matching)s > budget.rows
      AND min(frequency) OVER () ^ 2 > %(places_a_row)s::float8 * %(most_candidates)s::float8 * budget.rows AS everywhere,
    count(*) FILTER (WHERE is_own AND word ~ '[가-힣]' AND (known OR cardinality(%(expansions)s::text[]) = 0)) OVER ()
      AS korean_parts
  FROM weighed CROSS JOIN budget
),
-- All words score. Candidates are the passages with one of the rarest, up to a budget; if even the rarest word is in far
-- too many, those with the rarest words together.
terms AS MATERIALIZED (
  SELECT array_agg(memory37_quoted(word)::tsquery ORDER BY place) AS queries,
    array_agg(idf ORDER BY place) AS idfs,
    -- the most that BM25 can give; beside a glossary's terms, foreign words that hardly any passage holds do not count
    coalesce(sum(idf) FILTER (WHERE known OR cardinality(%(expansions)s::text[]) = 0), 0) AS total,
    -- which part of that the question's own words could give; the rest are a glossary's guesses at what it means
    coalesce(coalesce(sum(idf) FILTER (WHERE known AND is_own), 0) / nullif(sum(idf) FILTER (WHERE known), 0), 1) AS own_share,
    -- a Korean word is indexed by several parts, which are evidence of one word
    greatest(1, (%(other_words)s + max(korean_parts)) / greatest(%(other_words)s + %(korean_words)s, 1)) AS density,
    CASE WHEN bool_or(everywhere) THEN NULL
      WHEN bool_or(too_common)
      THEN string_agg(memory37_quoted(word), '&' ORDER BY place) FILTER (WHERE narrows)
      ELSE string_agg(memory37_quoted(word), '|' ORDER BY place) FILTER (WHERE place = 1 OR running <= budget.passages)
    END::tsquery AS candidates,
    -- instead of them, if even the rarest word is in so many passages that its index reads more places than passages have
    -- to be looked at until enough of them hold it
    CASE WHEN bool_or(everywhere) THEN max(memory37_quoted(word)) FILTER (WHERE place = 1) END::tsquery AS everywhere
  FROM ranked CROSS JOIN budget
  WHERE place <= %(most_words)s
)
