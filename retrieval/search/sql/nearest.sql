(
    SELECT passage.id, {distance} AS distance
    FROM ({rows}) AS passage
    WHERE passage.embedding_model = {model}{condition}
    ORDER BY {order}
    LIMIT %(k_vector)s
  )
