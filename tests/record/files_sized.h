/* Files, by functions that have a large-count form; see every.h. */

static void PART(own)(MPI_File file)
{
    int values[2] = {1, 2};
    MPI_Status status;
    MPI_Request r;
#define THEN MPI_Wait(&r, MPI_STATUS_IGNORE)
    F(File_write_at)(file, 2 * rank, values, 2, MPI_INT, &status);
    F(File_read_at)(file, 2 * rank, values, 2, MPI_INT, &status);
    F(File_iwrite_at)(file, 2 * rank, values, 2, MPI_INT, &r), THEN;
    F(File_iread_at)(file, 2 * rank, values, 2, MPI_INT, &r), THEN;
    MPI_File_seek(file, 2 * rank, MPI_SEEK_SET);
    F(File_write)(file, values, 2, MPI_INT, &status);
    MPI_File_seek(file, 2 * rank, MPI_SEEK_SET);
    F(File_read)(file, values, 2, MPI_INT, &status);
    MPI_File_seek(file, 2 * rank, MPI_SEEK_SET);
    F(File_iwrite)(file, values, 2, MPI_INT, &r), THEN;
    MPI_File_seek(file, 2 * rank, MPI_SEEK_SET);
    F(File_iread)(file, values, 2, MPI_INT, &r), THEN;
}

static void PART(collective)(MPI_File file)
{
    int values[2] = {1, 2};
    MPI_Status status;
    MPI_Request r;
    F(File_write_at_all)(file, 2 * rank, values, 2, MPI_INT, &status);
    F(File_read_at_all)(file, 2 * rank, values, 2, MPI_INT, &status);
    F(File_iwrite_at_all)(file, 2 * rank, values, 2, MPI_INT, &r), THEN;
    F(File_iread_at_all)(file, 2 * rank, values, 2, MPI_INT, &r), THEN;
    MPI_File_seek(file, 2 * rank, MPI_SEEK_SET);
    F(File_write_all)(file, values, 2, MPI_INT, &status);
    MPI_File_seek(file, 2 * rank, MPI_SEEK_SET);
    F(File_read_all)(file, values, 2, MPI_INT, &status);
    MPI_File_seek(file, 2 * rank, MPI_SEEK_SET);
    F(File_iwrite_all)(file, values, 2, MPI_INT, &r), THEN;
    MPI_File_seek(file, 2 * rank, MPI_SEEK_SET);
    F(File_iread_all)(file, values, 2, MPI_INT, &r), THEN;
}

static void PART(split)(MPI_File file)
{
    int values[2] = {1, 2};
    MPI_Status status;
    F(File_write_at_all_begin)(file, 2 * rank, values, 2, MPI_INT);
    MPI_File_write_at_all_end(file, values, &status);
    F(File_read_at_all_begin)(file, 2 * rank, values, 2, MPI_INT);
    MPI_File_read_at_all_end(file, values, &status);
    MPI_File_seek(file, 2 * rank, MPI_SEEK_SET);
    F(File_write_all_begin)(file, values, 2, MPI_INT);
    MPI_File_write_all_end(file, values, &status);
    MPI_File_seek(file, 2 * rank, MPI_SEEK_SET);
    F(File_read_all_begin)(file, values, 2, MPI_INT);
    MPI_File_read_all_end(file, values, &status);
}

/* With one pointer for all. */
static void PART(together)(MPI_File file)
{
    int values[2] = {1, 2};
    MPI_Status status;
    MPI_Request r;
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    F(File_write_shared)(file, values, 2, MPI_INT, &status);
    F(File_iwrite_shared)(file, values, 2, MPI_INT, &r), THEN;
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    F(File_read_shared)(file, values, 2, MPI_INT, &status);
    F(File_iread_shared)(file, values, 2, MPI_INT, &r), THEN;
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    F(File_write_ordered)(file, values, 2, MPI_INT, &status);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    F(File_read_ordered)(file, values, 2, MPI_INT, &status);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    F(File_write_ordered_begin)(file, values, 2, MPI_INT);
    MPI_File_write_ordered_end(file, values, &status);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    F(File_read_ordered_begin)(file, values, 2, MPI_INT);
    MPI_File_read_ordered_end(file, values, &status);
#undef THEN
}

static void PART(represented)(MPI_File file)
{
    DISP extent;
    F(File_get_type_extent)(file, MPI_INT, &extent);
    F(Register_datarep)(PART_NAME, CONVERT, CONVERT, extent_of, NULL);
}
