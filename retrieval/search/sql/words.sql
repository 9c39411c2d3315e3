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
  SELECT word, max(weight) AS weight
  FROM (
    SELECT unnest(tsvector_to_array(memory37_words(language, %(query)s))) AS word, 1.0::float8 AS weight
    FROM languages
    UNION ALL
    SELECT unnest(tsvector_to_array(memory37_words(language, expansion.text))), expansion.weight
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
counted AS (  -- a word that is not in the statistics is new, or occurs once
  SELECT word, weight, found.rows > 0 AS known, least(greatest(coalesce(found.rows, 1), 1), greatest(corpus.rows, 1)) AS frequency
  FROM question CROSS JOIN corpus LEFT JOIN LATERAL (
    SELECT sum(CASE WHEN %(hidden)s THEN rows ELSE public_rows END)::float8 AS rows
    FROM retrieval_wordstatistics AS counts
    WHERE counts.domain = %(domain)s AND counts.scope = ANY(%(scopes)s) AND counts.word = question.word
  ) AS found ON true
),
weighed AS (
  SELECT word, weight, weight * ln(1 + (greatest(corpus.rows, frequency) - frequency + 0.5) / (frequency + 0.5)) AS idf,
    frequency, known,
    sum(frequency) OVER (ORDER BY frequency / weight, word) AS running,
    row_number() OVER (ORDER BY frequency / weight, word) AS place
  FROM counted CROSS JOIN corpus
),
terms AS MATERIALIZED (  -- all words score; the rarest, up to a budget of passages to look at, make candidates
  SELECT array_agg(memory37_quoted(word)::tsquery ORDER BY place) AS queries,
    array_agg(idf ORDER BY place) AS idfs,
    -- the most that BM25 can give; beside a glossary's terms, foreign words that no passage holds do not count
    coalesce(sum(idf) FILTER (WHERE known OR cardinality(%(expansions)s::text[]) = 0), 0) AS total,
    string_agg(memory37_quoted(word), '|' ORDER BY place) FILTER (
      WHERE place = 1 OR running <= %(budget)s * greatest(1, corpus.rows / %(matching)s::float8)
    )::tsquery AS candidates
  FROM weighed CROSS JOIN corpus
  WHERE place <= %(most_words)s
)
