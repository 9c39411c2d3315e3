-- The one statement of search. `rows` is the caller's queryset, already narrowed by world, audience and filters; it
-- stands inside each leg, so that nothing is trimmed after ranking. retrieval/search/statement.py fills in the braces.
WITH
{words},
lexical AS (
  SELECT id, row_number() OVER (ORDER BY score DESC, id) AS rank
  FROM (
    SELECT candidate.id, memory37_bm25(
      candidate.search_vector, candidate.word_count, terms.queries, terms.idfs, corpus.average, %(k1)s, %(b)s) AS score
    FROM (  -- more only if all words are in very many passages: then it hardly matters which of them are scored
      (SELECT passage.id, passage.search_vector, passage.word_count FROM ({rows}) AS passage
      WHERE {is_candidate}
      LIMIT %(most_candidates)s)
      UNION ALL  -- the index would read a million places of a word to return some thousands: look at rows until it has them
      (SELECT passage.id, passage.search_vector, passage.word_count FROM ({rows}) AS passage
      WHERE (SELECT everywhere FROM terms) IS NOT NULL
        AND (passage.search_vector @@ (SELECT everywhere FROM terms)) IS TRUE
      LIMIT %(most_candidates)s)
    ) AS candidate, terms, corpus
    ORDER BY score DESC, id
    LIMIT %(k_keyword)s
  ) AS best
),
semantic AS (
  SELECT id, row_number() OVER (ORDER BY distance, id) AS rank
  FROM ({nearest}) AS best
),
named AS (  -- found by name, by the caller: still only if the queryset holds it
  SELECT passage.id, max(name.kind) AS kind, max(name.score) AS score
  FROM ({rows}) AS passage
  JOIN unnest(%(named_ids)s::uuid[], %(named_kinds)s::text[], %(named_scores)s::float8[]) AS name (id, kind, score)
    ON name.id = passage.id
  GROUP BY passage.id
),
pool AS (
  SELECT id, lexical.rank AS keyword_rank, semantic.rank AS vector_rank, named.kind, named.score AS named_score
  FROM lexical FULL JOIN semantic USING (id) FULL JOIN named USING (id)
),
scored AS (  -- both raw scores for each, whichever leg found it
  SELECT pool.*, passage.{owner} AS owner,
    memory37_bm25(
      passage.search_vector, passage.word_count, terms.queries, terms.idfs, corpus.average, %(k1)s, %(b)s) AS keyword,
    CASE WHEN passage.embedding_model = {model} THEN 1 - ({distance}) END AS vector
  FROM pool JOIN {table} AS passage USING (id), terms, corpus
),
possible AS (  -- the most that the words of this question could give
  SELECT scored.*, terms.density, %(guessed_weight)s + (1 - %(guessed_weight)s) * terms.own_share AS trust, greatest(terms.total, max(keyword) OVER (), 1e-9) AS total,
    -- long passages hold some words of any question: see Preset.long_vector_weight
    greatest(%(vector_weight)s, %(vector_weight)s + (%(long_vector_weight)s - %(vector_weight)s)
      * least(1, greatest(0, (corpus.average - %(usual_length)s) / (%(long_length)s - %(usual_length)s)))) AS least_vector_weight
  FROM scored, terms, corpus
),
spread AS (  -- both on a scale of their own, the same for every question: no leg is stretched when it found nothing good
  SELECT possible.*,
    keyword / least(total, %(evidence)s * density * sqrt(%(evidence)s * density / total)) AS keyword_share,
    -- GREATEST ignores NULL: a missing vector must stay unknown
    CASE WHEN vector IS NOT NULL THEN greatest(vector - %(vector_floor)s, 0) / (1 - %(vector_floor)s) END AS vector_share
  FROM possible
),
covered AS (  -- how much the vector leg weighs: see Preset.full_coverage. While vectors are missing it weighs less
  SELECT spread.*,
    (1 - (1 - least_vector_weight) * trust * least(1, max(keyword_share) OVER () / %(full_coverage)s)) * coalesce(
      avg((vector_share IS NOT NULL)::int) FILTER (WHERE keyword_rank IS NOT NULL) OVER (), 1) AS vector_weight
  FROM spread
),
blended AS (
  SELECT covered.*, (1 - vector_weight) * keyword_share + vector_weight * vector_share AS blend FROM covered
),
ladder AS (  -- of the passages with a vector, both in ascending order
  SELECT array_agg(keyword_share ORDER BY keyword_share) AS shares, array_agg(blend ORDER BY blend) AS blends,
    avg(blend) AS mean
  FROM blended WHERE blend IS NOT NULL
),
unknown AS (  -- a passage without a vector, and how many of those with one its words do not fall behind
  SELECT blended.*, shares, blends, mean, cardinality(shares) AS steps, width_bucket(keyword_share, shares) AS step
  FROM blended, ladder WHERE blend IS NULL
),
judged AS (  -- it gets the score that its place by words has among those with a vector, so that it keeps this place
  SELECT id, CASE
      WHEN steps IS NULL THEN keyword_share
      WHEN keyword_share = 0 THEN mean
      WHEN step = 0 THEN blends[1] + (1 - vector_weight) * (keyword_share - shares[1])
      WHEN step = steps THEN blends[steps] + (1 - vector_weight) * (keyword_share - shares[steps])
      ELSE blends[step] + (blends[step + 1] - blends[step])
        * (keyword_share - shares[step]) / (shares[step + 1] - shares[step])
    END AS blend
  FROM unknown
),
fused AS (
  SELECT blended.*,
    CASE %(fusion)s
      WHEN 'rrf' THEN coalesce(1.0 / (%(rrf_k)s + keyword_rank), 0) + coalesce(1.0 / (%(rrf_k)s + vector_rank), 0)
      ELSE coalesce(blended.blend, judged.blend)
    END + %(name_weight)s * coalesce(named_score, 0) AS score
  FROM blended LEFT JOIN judged USING (id)
),
placed AS (
  SELECT fused.*, {place} AS place FROM fused
),
best AS (
  SELECT * FROM placed WHERE place = 1 ORDER BY score DESC, id LIMIT %(limit)s
)
SELECT passage.*, best.score::float8, best.vector_weight::float8, best.keyword_rank, best.keyword, best.vector_rank,
  best.vector, best.kind, best.named_score,
  (SELECT in_use.model FROM retrieval_servingmodel AS in_use WHERE in_use.domain = %(domain)s) AS serving
FROM best JOIN ({shown}) AS passage USING (id)
ORDER BY best.score DESC, id
