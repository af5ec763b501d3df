/* Datatypes: each describes the elements of its tensor in order. They are kept per layout. 16-bit floats convert as in thorn. */
#include "check_mpi.h"

static void datatypes_have_the_size_of_elements(void) {
    for (int k = 0; k < DTYPES; k++) {
        int bytes = 0;
        MPI_Type_size(TH_MPI_datatype(dtypes[k]), &bytes);
        CHECK_EQ(th_mpi_bytes(dtypes[k]), bytes);
        CHECK_EQ(bytes, THDtype_size(dtypes[k]));
    }
    CHECK_FAILURE(TH_MPI_datatype(TH_UNDEFINED) == MPI_DATATYPE_NULL, TH_ERR_DTYPE, "0 is no dtype");
    CHECK_FAILURE(TH_MPI_datatype((THDtype)99) == MPI_DATATYPE_NULL, TH_ERR_DTYPE, "99 is no dtype");
}

static void a_datatype_takes_elements_in_order(void) {
    THMpiCall call;
    for (int64_t round = 0; round < shrunk(3000) + 3; round++) {
        int64_t size[8];
        int ndim = any_shape(OWN, 0, size), place = 0;
        THTensor *t = values_somehow(OWN, any_dtype(OWN), ndim, size, 2), *row = THTensor_newCloneFormat(t, TH_CONTIGUOUS_FORMAT);
        size_t bytes = (size_t)THTensor_nElement(t) * THTensor_elementSize(t);
        char *packed = calloc(1, bytes + 1);
        th_mpi_buffer buffer;
        CHECK_OK(th_mpi_begin(&call, MPI_COMM_SELF, "test"));
        CHECK_OK(th_mpi_buffer_of(&buffer, &call, t));
        MPI_Pack(buffer.data, buffer.count, buffer.type, packed, (int)bytes, &place, MPI_COMM_SELF);
        CHECK_EQ(place, bytes);
        if (bytes > 0) CHECK(memcmp(packed, THTensor_data(row), bytes) == 0);
        CHECK_OK(th_mpi_end(&call, TH_OK));
        free(packed);
        THTensor_free(t);
        THTensor_free(row);
    }
}

static void a_layout_has_one_datatype(void) {
    THMpiCall call;
    th_mpi_buffer first, buffer;
    THTensor *wide = THTensor_newZeros(TH_FLOAT32, SIZES(100, 100));
    THTensor *t = THTensor_newNarrow(wide, 1, 3, 50), *other = THTensor_newNarrow(wide, 1, 4, 50);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    CHECK_OK(th_mpi_begin(&call, comm, "test"));
    CHECK_OK(th_mpi_buffer_of(&first, &call, t));
    CHECK_OK(th_mpi_buffer_of(&buffer, &call, other));
    CHECK(buffer.type == first.type);
    CHECK(buffer.data == (char *)first.data + 4);
    /* The type is kept while fewer other types come than there are places. The next type replaces the oldest one. */
    for (int i = 1; i < 3 * TH_MPI_TYPES; i++) {
        CHECK_OK(THTensor_narrow(other, wide, 1, 0, 1 + i % 99));
        CHECK_OK(THTensor_narrow(other, other, 0, 0, 2 + i / 99));
        CHECK_OK(th_mpi_buffer_of(&buffer, &call, other));
        if (i != TH_MPI_TYPES - 1) continue;
        CHECK_OK(th_mpi_buffer_of(&buffer, &call, t));
        CHECK(buffer.type == first.type);
    }
    int kept = 0;
    for (int i = 0; i < TH_MPI_TYPES; i++) kept += call.state->entry[i].key != NULL;
    CHECK_EQ(kept, TH_MPI_TYPES);
    CHECK_OK(th_mpi_end(&call, TH_OK));
    MPI_Comm_free(&comm);
    THTensor_free(wide);
    THTensor_free(t);
    THTensor_free(other);
}

static void neighbours_that_one_step_serves_are_one_dimension(void) {
    th_mpi_layout layout;
    const int64_t size[] = {2, 1, 3, 4, 1}, row[] = {12, 99, 4, 1, 7}, gaps[] = {24, 99, 8, 2, 7}, none[] = {2, 0, 3};
    th_mpi_layout_of(&layout, 4, 5, size, row);
    CHECK(th_mpi_is_row(&layout));
    CHECK_EQ(layout.size[0], 24);
    th_mpi_layout_of(&layout, 4, 5, size, gaps);
    CHECK(!th_mpi_is_row(&layout));
    CHECK_EQ(layout.dims, 1);
    CHECK_EQ(layout.step[0], 8);
    th_mpi_layout_of(&layout, 4, 3, none, row);
    CHECK(layout.empty);
}

/* Converts with thorn, through views of the same bytes. */
static void halves_become_floats_and_back_as_in_thorn(void) {
    for (int k = 0; k < 2; k++) {
        const int64_t count = 65536;
        THTensor *bits = THTensor_newArange(TH_INT32, 0, (double)count, 1), *words = THTensor_newTo(bits, TH_INT16);
        THTensor *halves = THTensor_newViewDtype(words, k ? TH_BFLOAT16 : TH_FLOAT16), *floats = THTensor_newTo(halves, TH_FLOAT32);
        const uint16_t *half = THTensor_data(halves);
        const float *value = THTensor_data(floats);
        int wrong = 0;
        for (int64_t i = 0; i < count; i++) {
            float got = k ? th_mpi_from_bfloat16(half[i]) : th_mpi_from_float16(half[i]);
            uint16_t back = k ? th_mpi_to_bfloat16(value[i]) : th_mpi_to_float16(value[i]);
            if (isnan(value[i])) wrong += !isnan(got) || !isnan(k ? th_mpi_from_bfloat16(back) : th_mpi_from_float16(back));
            else wrong += memcmp(&got, &value[i], sizeof got) != 0 || back != half[i];
        }
        CHECK_EQ(wrong, 0);
        THTensor_free(bits);
        THTensor_free(words);
        THTensor_free(halves);
        THTensor_free(floats);
        /* Floats that are rounded, including ties, subnormal results, and floats beyond the range. */
        const int64_t many = shrunk(1000000) + 1000;
        THTensor *raw = THTensor_newZeros(TH_INT32, 1, &many), *source = THTensor_newViewDtype(raw, TH_FLOAT32);
        int32_t *word = THTensor_data(raw);
        for (int64_t i = 0; i < many; i++) {
            uint32_t at = (uint32_t)pick(OWN, INT64_C(1) << 31);
            /* Half of the floats are near the range of float16. */
            word[i] = (int32_t)(i % 2 ? at << 1 : ((uint32_t)(96 + pick(OWN, 50)) << 23 | (at & 0x807FFFFF & ~(i % 4 ? 0u : 0xFFFu))));
        }
        THTensor *rounded = THTensor_newTo(source, k ? TH_BFLOAT16 : TH_FLOAT16);
        const uint16_t *expected = THTensor_data(rounded);
        const float *exact = THTensor_data(source);
        for (int64_t i = 0; i < many; i++) {
            uint16_t got = k ? th_mpi_to_bfloat16(exact[i]) : th_mpi_to_float16(exact[i]);
            wrong += isnan(exact[i]) ? !isnan(k ? th_mpi_from_bfloat16(got) : th_mpi_from_float16(got)) : got != expected[i];
        }
        CHECK_EQ(wrong, 0);
        THTensor_free(raw);
        THTensor_free(source);
        THTensor_free(rounded);
    }
}

CHECK_MPI_MAIN(CASE(datatypes_have_the_size_of_elements), CASE(a_datatype_takes_elements_in_order), CASE(a_layout_has_one_datatype),
               CASE(neighbours_that_one_step_serves_are_one_dimension), CASE(halves_become_floats_and_back_as_in_thorn))
